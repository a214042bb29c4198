"""Decrypts the content that an identity has under a key. The encrypted descriptors come from the service; the viewing key is sent only to
your own daemon.

    WALLET_URL=http://user:password@127.0.0.1:27486 python3 examples/wallets/decrypt_data.py SERVICE NAME@ KEY_ID

VIEWING_KEY: an extended viewing key (zxviews...); without it the daemon tries the keys of its wallet.
"""
import os
import sys

from rpc import RpcError, connect, print_json, read_arguments, wallet_url

DATA_DESCRIPTOR = 'i4GC1YGEVD21afWudGoFJVdnfjJ5XWnCQv'
ENCRYPTED = 1
CANNOT_DECRYPT = -5

address, name, key = read_arguments('SERVICE', 'NAME@', 'KEY_ID')
service = connect(address)
wallet = connect(wallet_url())
viewing_key = {'evk': os.environ['VIEWING_KEY']} if os.environ.get('VIEWING_KEY') else {}


def descriptors_in(value):
    """Descriptors that belong to one value are in a nested list."""
    if isinstance(value, list):
        return [descriptor for item in value for descriptor in descriptors_in(item)]
    return [value[DATA_DESCRIPTOR]] if isinstance(value, dict) and DATA_DESCRIPTOR in value else []


def text_of(data):
    """Hexadecimal digits, or a text where the descriptor marks it as text."""
    if not isinstance(data, str):
        return data['message'] if data and 'message' in data else print_json(data)
    try:
        return bytes.fromhex(data).decode()
    except UnicodeDecodeError:
        return data


state = service('getidentity', name)
held = state['identity'].get('contentmultimap', {}).get(key)
if held is None:
    raise SystemExit(f'the newest state holds nothing under {key}')
failed = False
for descriptor in descriptors_in(held):
    if not descriptor['flags'] & ENCRYPTED:
        continue
    # A descriptor may refer to data in another output of its transaction, which the daemon then reads.
    question = {'datadescriptor': descriptor, 'txid': state['txid'], 'retrieve': True, **viewing_key}
    try:
        for found in wallet('decryptdata', question):
            print(f"{found.get('label', '')}\t{text_of(found.get('objectdata'))}")
    except RpcError as error:
        if error.code != CANNOT_DECRYPT:
            raise
        print('not for this key', file=sys.stderr)
        failed = True
sys.exit(1 if failed else 0)
