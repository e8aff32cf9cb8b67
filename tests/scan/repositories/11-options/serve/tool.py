import click
import numpy as np


@click.command()
@click.option("--rounds", default=5, help="How often")
def main(rounds):
    np.zeros(rounds)


if __name__ == "__main__":
    main()
