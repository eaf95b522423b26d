"""Says that a reply is as long as all the memory there is."""

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    raw.send_bytes(b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x01")
    raw.read_until_the_end()
