# Reads it when it is asked to.
import argparse


def settings():
    return argparse.ArgumentParser().parse_args()
