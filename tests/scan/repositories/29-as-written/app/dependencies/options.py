import argparse
p = argparse.ArgumentParser()
p.add_argument("--ours", help="of this project")
