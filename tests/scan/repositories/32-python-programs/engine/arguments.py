# Imported by others: reading the command line does not make it a program.
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=8)
args = parser.parse_args()
