"""Write two functions."""


def centre(x: object) -> object:
    """Return x without its mean."""
    return ...


def spread(x: object) -> object:
    """Return the root of the mean square of what is centred."""
    return ...
