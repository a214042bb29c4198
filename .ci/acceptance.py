"""Runs the acceptance checks and fails when a group listed in .ci/acceptance-holds.txt does not hold.

Usage: acceptance.py FOLDER [check ...]"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.resolve().parent
ALL = ('crash', 'faults', 'rest', 'ws', 'rpc', 'limits')
WHOLE = ('crash', 'faults', 'limits', 'ws')  # every group of these must hold


def run(folder, check):
    return subprocess.run([sys.executable, f'{folder}/run_all.py', check, '--kills', '4', '--command', '.ci/start-installed', ROOT],
                          stdout=subprocess.PIPE, text=True)


def main():
    folder, *checks = sys.argv[1:]
    checks = checks or ALL
    must_hold = {line for line in (HERE / 'acceptance-holds.txt').read_text().splitlines() if line}
    failed, held = [], set()
    # Three at a time: each check mostly waits for its own service.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for check, ended in zip(checks, pool.map(lambda check: run(folder, check), checks)):
            print(ended.stdout, end='', flush=True)
            if check in WHOLE and ended.returncode != 0:
                failed.append(f'{check} as a whole: exit code {ended.returncode}')
            for group in re.finditer(r'^(ok  |FAIL) (.+): compared \d', ended.stdout, re.MULTILINE):
                ok, name = group.group(1) == 'ok  ', f'{check}: {group.group(2)}'
                if ok:
                    held.add(name)
                elif check in WHOLE or name in must_hold:
                    failed.append(name)
    ran = set(checks)
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
