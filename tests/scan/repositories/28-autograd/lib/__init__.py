from lib.scatter import scatter_sum, other
