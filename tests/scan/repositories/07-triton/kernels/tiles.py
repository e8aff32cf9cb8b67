import cutlass
import cutlass.cute as cute


class Scale:
    @cute.jit
    def __call__(self, x, stream):
        self.kernel(x).launch(grid=[4, 1, 1], block=[128, 1, 1], stream=stream)

    @cute.kernel
    def kernel(self, x):
        x[0] = 1


class Twin:
    @cute.jit
    def kernel(self, x):
        x[0] = 2
