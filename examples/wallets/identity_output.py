"""Reads the contentmultimap as the chain stores it, from the script of an identity's output. getidentity decodes it for reading: if you
write that form back, some values become other bytes, and some are silently dropped."""
import hashlib
import io

IDENTITY_PRIMARY = 0x0E
CHECK_CRYPTO_CONDITION = 0xCC
I_ADDRESS = 102
FIRST_VERSION_WITH_MAP = 3
BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'


class Bytes:
    def __init__(self, content):
        self.content = io.BytesIO(content)

    def take(self, length):
        taken = self.content.read(length)
        if len(taken) != length:
            raise ValueError('the output ends before its content')
        return taken

    def number(self, length):
        return int.from_bytes(self.take(length), 'little')

    def push(self):
        """Reads the data of a push opcode."""
        opcode = self.number(1)
        length_bytes = {0x4C: 1, 0x4D: 2, 0x4E: 4}.get(opcode)
        if length_bytes is None and opcode > 0x4B:
            raise ValueError(f'opcode {opcode} where data is expected')
        return self.take(opcode if length_bytes is None else self.number(length_bytes))

    def count(self):
        first = self.number(1)
        if first < 0xFD:
            return first
        return self.number({0xFD: 2, 0xFE: 4, 0xFF: 8}[first])

    def counted(self):
        return self.take(self.count())


def i_address(hash160):
    payload = bytes([I_ADDRESS]) + hash160
    payload += hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    number, text = int.from_bytes(payload, 'big'), ''
    while number:  # the first byte is never zero
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return text


def stored_multimap(script):
    """Maps the i-address of each key to its values in order, in hexadecimal digits. Raises ValueError when the script is not an identity output."""
    outer = Bytes(bytes.fromhex(script))
    outer.push()  # the conditions for spending the output
    if outer.number(1) != CHECK_CRYPTO_CONDITION:
        raise ValueError('the output is no smart output')
    inner = Bytes(outer.push())
    _, kind, _, addresses = inner.push()
    if kind != IDENTITY_PRIMARY:
        raise ValueError('the output holds no identity')
    for _ in range(addresses):
        inner.push()

    identity = Bytes(inner.push())
    version = identity.number(4)
    identity.take(4)  # flags
    for _ in range(identity.count()):
        identity.counted()  # primary addresses
    identity.take(4 + 20)  # signatures needed, parent
    identity.counted()  # name
    if version < FIRST_VERSION_WITH_MAP:
        return {}
    stored = {}
    for _ in range(identity.count()):
        key = i_address(identity.take(20))
        stored[key] = [identity.counted().hex() for _ in range(identity.count())]
    return stored
