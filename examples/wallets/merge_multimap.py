"""Prints a request for update_identity that keeps the contentmultimap of an identity byte for byte, and adds values to it. CHANGES is JSON:
{"<i-address of a key>": [values to add]}, or null for a key to remove. `replaces` in the output names the state that was merged.

    python3 examples/wallets/merge_multimap.py SERVICE NAME@ '{"iD1rWQaBBHZU14FRYkBUguwfjZHDVatGXG":["c0ffee"]}'
"""
import re

from identity_output import stored_multimap
from rpc import connect, print_json, read_arguments, read_json

service, name, changes = read_arguments('SERVICE', 'NAME@', 'CHANGES')
rpc = connect(service)


def check_value(value):
    """The daemon silently drops other elements of a list."""
    if isinstance(value, dict) and 'data' in value:
        raise SystemExit('data is encrypted by the daemon that is asked: use your own')
    if not isinstance(value, dict) and not (isinstance(value, str) and re.fullmatch(r'([0-9a-fA-F]{2})+', value)):
        raise SystemExit(f'{print_json(value)} is not kept: hexadecimal digits, or {{"<type>": value}}')
    return value


# Height -1 includes the mempool: the next update replaces a pending one.
state = rpc('getidentity', name, -1)
transaction = rpc('getrawtransaction', state['txid'], 1)
merged = stored_multimap(next(out for out in transaction['vout'] if out['n'] == state['vout'])['scriptPubKey']['hex'])
for key, values in read_json(changes).items():
    if not re.fullmatch(r'i\w{33}', key):
        raise SystemExit(f'{key} must be an i-address: getvdxfid gives that of a name')
    if values is None:
        merged.pop(key, None)
    elif isinstance(values, list):
        merged[key] = [*merged.get(key, []), *map(check_value, values)]
    else:
        raise SystemExit(f'{key} must have a list of values, or null')
identity = state['identity']
replaces = {'txid': state['txid'], 'vout': state['vout']}
print(print_json({'name': identity['name'], 'parent': identity['parent'], 'contentmultimap': merged, 'replaces': replaces}))
