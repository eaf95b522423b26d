"""Reports an error whose text is no UTF-8."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(b"\x1a\x04\x12\x02\xff\xfe")
    raw.read_until_the_end()
