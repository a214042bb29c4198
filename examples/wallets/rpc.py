"""JSON-RPC to the service or to your own daemon. Numbers keep their digits: numbers with a fraction are decimals, never floats."""
import base64
import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from decimal import Decimal


class RpcError(Exception):
    """An error of the daemon, with its code."""

    def __init__(self, code, message):
        super().__init__(f'{message} ({code})')
        self.code = code


class HttpError(Exception):
    """An answer that is not JSON: refused credentials, or the answer of a proxy."""

    def __init__(self, status, method):
        super().__init__(f'{method}: HTTP {status} without an answer')
        self.status = status


def passes(error):
    """Whether the error is temporary: the daemon is busy or starting, a limit is reached, the connection broke."""
    if isinstance(error, RpcError):
        return error.code in (-32603, -32005, -28)
    if isinstance(error, HttpError):
        return error.status == 429 or error.status >= 500
    return isinstance(error, (OSError, http.client.HTTPException))


def read_json(text):
    return json.loads(text, parse_float=Decimal)


def print_json(value):
    # The json module cannot print a Decimal, so it is printed as a marked text, and the marks are removed.
    text = json.dumps(value, default=lambda number: f'\0{number:f}\0', ensure_ascii=True, separators=(',', ':'))
    return re.sub(r'"\\u0000([-\d.]+)\\u0000"', r'\1', text)


def connect(address):
    """Takes http://user:password@127.0.0.1:27486 for a daemon; the service needs no credentials."""
    url = urllib.parse.urlsplit(address)
    login = f'{urllib.parse.unquote(url.username or "")}:{urllib.parse.unquote(url.password or "")}'
    plain = url._replace(netloc=url.netloc.rpartition('@')[2]).geturl()

    def call(method, *params):
        body = print_json({'id': 1, 'method': method, 'params': params}).encode()
        request = urllib.request.Request(plain, body, {'content-type': 'application/json'})
        if url.username:
            # Not sent to another host that the daemon's proxy may redirect to.
            request.add_unredirected_header('authorization', 'Basic ' + base64.b64encode(login.encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                text = response.read().decode()
        except urllib.error.HTTPError as refused:
            # The daemon sends its errors as JSON with HTTP 404 or 500; answers with 401, and those of proxies, are not JSON.
            text = refused.read().decode()
            if not text.startswith('{'):
                raise HttpError(refused.code, method) from refused
        answer = read_json(text)
        if answer['error']:
            raise RpcError(answer['error']['code'], f"{method}: {answer['error']['message']}")
        return answer['result']

    return call


def to_satoshis(coins):
    """Converts coins, as the daemon prints them, to satoshis."""
    text = f'{coins:f}' if isinstance(coins, Decimal) else str(coins)
    if not re.fullmatch(r'-?[0-9]+(\.[0-9]{1,8})?', text):
        raise SystemExit(f'{text} is no amount: digits, with at most 8 decimals')
    return int(Decimal(text).scaleb(8))


def to_coins(satoshis):
    return f'{satoshis // 10**8}.{satoshis % 10**8:08}'


def read_arguments(*names):
    """Returns the arguments of the command line; names in brackets are those of optional ones, which are None when they are not given. If
    one is missing, or there are too many, it prints the usage and ends the program with exit code 2."""
    program, *given = sys.argv
    least = sum(not name.startswith('[') for name in names)
    if not least <= len(given) <= len(names):
        fail(f'usage: python3 {os.path.relpath(program)} {" ".join(names)}')
    return given + [None] * (len(names) - len(given))


def wallet_url():
    """Returns the URL of your own daemon; without one, it ends the program with exit code 2."""
    return os.environ.get('WALLET_URL') or fail(
        'WALLET_URL is missing: the address of your own daemon, with its user and password'
    )


def fail(problem):
    print(problem, file=sys.stderr)
    sys.exit(2)


def whole_number(text, name):
    if not re.fullmatch(r'[0-9]{1,9}', text):
        raise SystemExit(f'{name} must be a whole number, not {text}')
    return int(text)
