"""Runs the acceptance checks and fails when a group that is to hold does not: .ci/acceptance-holds.txt names them.

Usage: acceptance.py FOLDER [check ...]"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ALL = ('rest', 'rpc', 'limits', 'ws', 'faults', 'crash')
WHOLE = ('crash', 'faults', 'limits', 'ws')  # every group of these must hold


def main():
    folder, *checks = sys.argv[1:]
    must_hold = {line for line in (HERE / 'acceptance-holds.txt').read_text().splitlines() if line}
    process = subprocess.Popen([sys.executable, f'{folder}/run_all.py', *(checks or ALL), '--kills', '6'],
                               stdout=subprocess.PIPE, text=True)
    check, failed, held = None, [], set()
    for line in process.stdout:
        print(line, end='', flush=True)
        if begun := re.match(r'=== (\w+) on ', line):
            check = begun.group(1)
        elif group := re.match(r'(ok  |FAIL) (.+): compared \d', line):
            ok, name = group.group(1) == 'ok  ', f'{check}: {group.group(2)}'
            if ok:
                held.add(name)
            elif check in WHOLE or name in must_hold:
                failed.append(name)
    process.wait()
    ran = set(checks or ALL)
    missing = {name for name in must_hold if name.split(':')[0] in ran} - held - set(failed)
    for name in failed:
        print(f'acceptance: must hold and does not: {name}')
    for name in sorted(missing):
        print(f'acceptance: must hold and was not run: {name}')
    for name in sorted(held - must_hold):
        if name.split(':')[0] not in WHOLE:
            print(f'acceptance: holds now, add it to acceptance-holds.txt: {name}')
    print(f'acceptance: {len(held)} groups hold, {len(failed) + len(missing)} that must hold do not')
    sys.exit(1 if failed or missing else 0)


main()
