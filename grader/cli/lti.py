"""``grade lti WHAT``: LMSs that may open this server, and the keys that it signs with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from grader.cli.options import Parser
from grader.errors import UsageError

__all__ = ["parser", "run"]

WHAT = {
    "add-platform": "register an LMS by hand; prints its number",
    "add-deployment": "PLATFORM ID: a place in an LMS from where it may open us",
    "platforms": "list the LMSs",
    "off": "PLATFORM: refuse an LMS from now on",
    "on": "PLATFORM: let it in again",
    "urls": "print this server's addresses, which the LMS wants to know",
    "canvas": "print the configuration for Canvas's developer key",
    "invite": "make an address with which an LMS registers itself, once",
    "keys": "list the keys that we sign with",
    "rotate-key": "sign with the next key from now on",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade lti``."""
    made = Parser(
        prog="grade lti",
        description="Register LMSs with this server, and look after its keys.",
        epilog="\n".join(["what:", *(f"  {name:15} {text}" for name, text in WHAT.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("what", metavar="WHAT", choices=WHAT, help="one of those below")
    made.add_argument("rest", metavar="ARGUMENT", nargs="*", help="what it needs")
    add = made.add_argument_group("of add-platform")
    add.add_argument("--moodle", metavar="URL", default="", help="it is a Moodle: this is its address")
    add.add_argument(
        "--canvas", metavar="URL", default="", help="it is a Canvas: https://canvas.instructure.com, or your own"
    )
    add.add_argument("--client-id", metavar="ID", default="", help="the client id that the LMS gave us")
    add.add_argument("--deployment", metavar="ID", action="append", default=[], help="a deployment id; may be repeated")
    add.add_argument("--issuer", metavar="URL", default="", help="the LMS's name in its tokens (iss)")
    add.add_argument("--auth-url", metavar="URL", default="", help="its authentication request URL")
    add.add_argument("--token-url", metavar="URL", default="", help="its access token URL")
    add.add_argument("--jwks-url", metavar="URL", default="", help="its public keyset URL")
    add.add_argument(
        "--audience", metavar="NAME", default="", help="whom requests for tokens are for, if not the access token URL"
    )
    add.add_argument("--name", metavar="TEXT", default="", help="what we call it; its host name by default")
    made.add_argument(
        "--private-network",
        action="store_true",
        help="the LMS stands in our own network: allow http and private addresses",
    )
    made.add_argument(
        "--discard-lost",
        action="store_true",
        help="of rotate-key: GRADE_SECRET_KEY is lost; discard the keys that only it opens, and make new ones",
    )
    made.add_argument(
        "--days", metavar="N", type=int, default=7, help="of invite: how long the address is good, 7 by default"
    )
    return made


def run(words: Sequence[str]) -> int:
    """Do it and print what came of it; return 0."""
    options = parser().parse_args(words)
    if options.rest and options.what not in ("add-deployment", "off", "on"):
        raise UsageError(f"'{options.rest[0][:30]}' isn't needed.", hint="See grade lti --help.")
    if options.discard_lost and options.what != "rotate-key":
        raise UsageError("--discard-lost belongs to rotate-key.", hint="See grade lti --help.")
    from grader.web.start import migrate, set_up

    set_up()
    migrate()
    from grader.web.lti.commands import run as do

    print("\n".join(do(options)))
    return 0
