"""Breaks its stream and comes back with sessions that are not its own."""

import time

from tests.hostile.raw import Raw

if __name__ == "__main__":
    first = Raw()
    session = first.greet()
    first.read_decision()
    first.close()
    for guess in ("", session[:-1], session[::-1], "A" * len(session), session + "A"):
        other = Raw()
        other.greet(read=False, session=guess)
        assert other.read_until_the_end() in ("PERMISSION_DENIED", "FAILED_PRECONDITION", "ALREADY_EXISTS")
    time.sleep(60)
