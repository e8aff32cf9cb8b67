#!/usr/bin/env python3
"""Holds a scan against a truth table.

    score.py TABLE.tsv SCAN.json [LISTED.tsv] [--all]    prints for each kind of row how many of all are right, and what
                                                         is wrong (twelve rows of a kind, or all)

LISTED.tsv is what list_kernels.py printed: the checkout must be the one that the table was made of. Exits with 1 where
fewer rows are right than floors.tsv says, or where a kernel is found that is none.
"""
import collections
import csv
import json
import os
import re
import sys

# What a step of a story must say about a line, however it goes on.
WORDS = {
    'load': r'reads global memory|loads?\b', 'store': r'writes global memory|stores?\b', 'loop': r'loop|repeats',
    'shared_load': r'reads shared memory|shared', 'shared_store': r'writes shared memory|to shared memory',
    'barrier': r'synchronises|barrier|waits', 'reduce': r'\bsum|maxim|minim|reduc', 'atomic': r'atomic',
    'exit': r'exits|returns|ends', 'shuffle': r'shuffl|exchang|across the warp|from another lane',
}


def rows_of(path):
    with open(path, encoding='utf-8') as file:
        lines = [line for line in file if not line.startswith('#')]
    return list(csv.DictReader(lines, delimiter='\t', quoting=csv.QUOTE_NONE))


def steps_of(step):
    yield step
    for inner in step.get('inside', []):
        yield from steps_of(inner)


def covers(places, launcher):
    for place in places.split(' '):
        file, lines = place.rsplit(':', 1)
        first, last = lines.split('-')
        if file == launcher['file'] and launcher['line'] <= int(last) and launcher['line_last'] >= int(first):
            return True
    return False


class Scan:
    def __init__(self, facts):
        self.kernels = collections.defaultdict(list)
        for kernel in facts['kernels']:
            self.kernels[(kernel['file'], kernel['name'])].append(kernel)
        self.by_name = collections.defaultdict(list)
        for kernel in facts['kernels']:
            self.by_name[kernel['name']].append(kernel)
        self.features = {feature['id'] for feature in facts['features']}
        self.options = collections.defaultdict(set)
        for option in facts['options']:
            names = {option['name'], *option.get('other_names', [])}
            places = [option] + option.get('also_at', []) + option.get('places', []) + option.get('read_at', [])
            for place in places:
                self.options[place['file']] |= names

    def kernel(self, row):
        found = [k for k in self.kernels[(row['file'], row['name'])] if k['line_name'] == int(row['line'])]
        return found[0] if found else None

    def is_right(self, row):
        what, name = row['what'], row['name']
        if what == 'kernel':
            kernel = self.kernel(row)
            return kernel is not None and kernel['line_last'] == int(row['last'])
        if what == 'launch':
            kernel = self.kernel(row)
            return kernel is not None and any(covers(row['detail'], launcher) for launcher in kernel['launchers'])
        if what == 'unlaunched':  # a launcher that is told as unsure costs nothing
            kernel = self.kernel(row)
            return kernel is not None and all(one['confidence'] == 'unsure' for one in kernel['launchers'])
        if what == 'option':
            return name in self.options[row['file']]
        if what == 'no_option':
            return name not in self.options[row['file']]
        if what == 'feature':
            return name in self.features
        if what == 'no_feature':
            return name not in self.features
        if what == 'step':
            kernel_name, _, kernel_file = name.partition('@')
            for kernel in self.by_name[kernel_name]:
                if kernel_file and kernel['file'] != kernel_file:
                    continue
                for step in (kernel['story'].get('on_gpu') or {}).get('steps', []):
                    for one in steps_of(step):
                        last = one.get('line_last') or one['line']
                        if one['file'] != row['file'] or not one['line'] <= int(row['line']) <= last:
                            continue
                        # A call is told by what happens inside of it.
                        told = steps_of(one) if (one['words'] or '').startswith('calls') else [one]
                        if any(re.search(WORDS[row['detail']], part['words'] or '') for part in told):
                            return True
            return False
        raise ValueError(what)


def is_same_checkout(table, listed):
    with open(listed, encoding='utf-8') as file:
        found = {tuple(line.rstrip('\n').split('\t')) for line in file}
    rows = {(row['detail'], row['name'], row['file'], row['line'], row['last']) for row in table if row['what'] == 'kernel'}
    for row in sorted(rows ^ found)[:12]:
        print('    only in the table:' if row in rows else '    only in the checkout:', *row)
    return rows == found


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--all']
    every = len(arguments) < len(sys.argv) - 1
    table = rows_of(arguments[0])
    with open(arguments[1], encoding='utf-8') as file:
        facts = json.load(file)
    scan = Scan(facts)
    if len(arguments) > 2 and not is_same_checkout(table, arguments[2]):
        return 1
    repository = os.path.basename(arguments[0]).removesuffix('.tsv')
    right, total, wrong = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for row in table:
        total[row['what']] += 1
        if scan.is_right(row):
            right[row['what']] += 1
        else:
            wrong[row['what']].append(row)
    known = {(row['file'], row['name'], int(row['line'])) for row in table if row['what'] == 'kernel'}
    languages = {row['detail'] for row in table if row['what'] == 'kernel'} | {'cutile', 'tile_lang'}
    extra = [k for k in facts['kernels'] if k['kind'] in languages and
             (k['file'], k['name'], k['line_name']) not in known]
    failed = False
    for floor in rows_of(os.path.join(os.path.dirname(os.path.abspath(arguments[0])), 'floors.tsv')):
        if floor['repository'] == repository and right[floor['what']] < int(floor['right']):
            print(f"{repository}: {floor['what']} {right[floor['what']]} right, {floor['right']} before")
            failed = True
    for what in total:
        print(f'{repository}\t{what}\t{right[what]}\t{total[what]}')
        for row in wrong[what] if every else wrong[what][:12]:
            print('    wrong:', row['name'], row['file'], row['line'], row['detail'])
    for kernel in extra if every else extra[:12]:
        print('    no kernel:', kernel['name'], kernel['file'], kernel['line_name'])
    return 1 if failed or extra else 0


if __name__ == '__main__':
    sys.exit(main())
