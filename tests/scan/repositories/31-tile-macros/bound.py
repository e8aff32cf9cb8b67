from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def bound(A: T.handle):
    for i in T.thread_binding(128, thread="threadIdx.x"):
        T.evaluate(i)


@T.prim_func(s_tir=True)
def scheduled_elsewhere(A: T.handle):
    for i in T.serial(128):
        T.evaluate(i)
