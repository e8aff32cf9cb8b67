"""Matrix products for 4 s, as fast as the GPU allows: enough to reach its power cap. Then a pause and short kernels.

fathom record -- python3 burn.py
"""
import time

import torch

a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
end = time.time() + 4
products = 0
while time.time() < end:
    for _ in range(20):
        c = a @ b
    torch.cuda.synchronize()
    products += 20
time.sleep(0.5)
for _ in range(200):
    c = a + b
torch.cuda.synchronize()
print("products", products)
