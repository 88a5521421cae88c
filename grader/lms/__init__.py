"""Files of learning management systems: what learners handed in, and what goes back."""
