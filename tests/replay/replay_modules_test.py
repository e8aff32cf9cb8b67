"""Tests of data/replay/*.py without PyTorch and without a GPU.   python3 replay_modules_test.py DIRECTORY_OF_THE_SCRIPTS"""

import builtins
import contextlib
import dis
import io
import json
import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import fake_torch
import replay
import replay_calls
import replay_timing

CUDNN_FORWARD = (
    "aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
    "bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, "
    "SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)")
CUDNN_BACKWARD = (
    "aten::_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
    "Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, Tensor attn_bias, Tensor cum_seq_q, "
    "Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? scale=None) "
    "-> (Tensor, Tensor, Tensor)")
FLASH_FORWARD = (
    "aten::_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, "
    "bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, "
    "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor rng_state, Tensor unused, "
    "Tensor debug_attn_mask)")
FLASH_BACKWARD = (
    "aten::_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
    "Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, "
    "bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) "
    "-> (Tensor grad_query, Tensor grad_key, Tensor grad_value)")
INDEX = "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"
FUSED_ADAMW = (
    "aten::_fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
    "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, "
    "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()")
FUSED_ADAMW_TENSOR_LR = FUSED_ADAMW.replace("adamw_(", "adamw_.tensor_lr(").replace("float lr", "Tensor lr")
COPY = "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"
SUM = "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
POW = "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"


def tensor(*dims, dtype="bfloat16", strides=None, **more):
    if strides is None:
        strides, reach = [], 1
        for size in reversed(dims):
            strides.insert(0, reach)
            reach *= size
    return {"kind": "tensor", "dims": list(dims), "strides": list(strides), "dtype": dtype, **more}


def tensors(*items):
    return {"kind": "tensors", "items": list(items)}


def values(*all_of_them):
    return [{"kind": "value", "value": value} for value in all_of_them]


def case(call, args):
    return {"call": call, "args": args, "count": 1, "kernels": ["one", "two"],
            "recorded_us": {"mean": 6.0, "median": 6.0, "min": 6.0, "max": 6.0, "sum": 6.0}}


class WithFakeTorch(unittest.TestCase):
    def setUp(self):
        self.torch = fake_torch.install()
        self.gpu = self.torch.device("cuda")
        self.roles = []
        filled = lambda torch, storage, role: self.roles.append((storage.numel(), role))
        self.addCleanup(setattr, replay_calls, "fill", replay_calls.fill)
        replay_calls.fill = filled

    def result(self, *dims, dtype="bfloat16", strides=None, device="cuda"):
        spec = tensor(*dims, dtype=dtype, strides=strides)
        return fake_torch.Tensor(spec["dims"], spec["strides"], getattr(self.torch, dtype), self.torch.device(device))

    def build(self, call, args):
        return replay_calls.build_call(self.torch, case(call, args), self.gpu)

    def fresh(self, call, args):
        return [storage.nbytes for storage in replay_timing.fresh_arguments(self.build(call, args))]


class Names(unittest.TestCase):
    def code_objects(self, code):
        yield code
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self.code_objects(constant)

    def test_every_name_is_defined(self):
        for module in (replay, replay_calls, replay_timing):
            with open(module.__file__, encoding="utf-8") as file:
                code = compile(file.read(), module.__file__, "exec")
            for part in self.code_objects(code):
                for step in dis.get_instructions(part):
                    if step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_NAME" and part is code):
                        known = hasattr(module, step.argval) or hasattr(builtins, step.argval)
                        self.assertTrue(known, f"{module.__name__}.{part.co_name}: {step.argval}")


class AttentionGradient(WithFakeTorch):
    def cudnn_arguments(self):
        heads = tensor(8, 16, 512, 64)
        return [tensor(8, 16, 512, 64, strides=[524288, 64, 1024, 1]), heads, heads, heads, heads,
                tensor(8, 16, 512, 1, dtype="float32"), tensor(dtype="int64"), tensor(dtype="int64"),
                *values(None, None, None, 512, 512, 0.0, True, None)]

    def test_cudnn_takes_what_the_forward_op_gives(self):
        out, sums = self.result(8, 16, 512, 64), self.result(8, 16, 512, 1, dtype="float32")
        seed, offset = self.result(dtype="int64"), self.result(dtype="int64")
        forward = fake_torch.register(CUDNN_FORWARD, (out, sums, None, None, 512, 512, seed, offset, None))
        backward = fake_torch.register(CUDNN_BACKWARD, (out, out, out))
        call = self.build("aten::_scaled_dot_product_cudnn_attention_backward", self.cudnn_arguments())
        positional, keywords = forward.calls[0]
        self.assertEqual(positional[3:], (None, True, 0.0, True, False))
        self.assertIs(positional[0], call.positional[1], "the same query")
        self.assertEqual(keywords, {"scale": None})
        positional, keywords = backward.calls[0]
        for given, wanted in zip(positional[4:8], (out, sums, seed, offset)):
            self.assertIs(given, wanted)
        self.assertEqual(positional[8:], (None, None, None, 512, 512, 0.0, True))
        self.assertEqual(keywords, {"scale": None})
        self.torch.log.clear()
        call.run()
        self.assertEqual(self.torch.log, ["aten::_scaled_dot_product_cudnn_attention_backward"], "timed alone")

    def test_results_in_other_strides_are_copied_into_the_recorded_ones(self):
        out = self.result(8, 16, 512, 64, strides=[524288, 64, 1024, 1])
        sums = self.result(8, 16, 512, dtype="float32")
        seed, offset = self.result(dtype="int64", device="cpu"), self.result(dtype="int64", device="cpu")
        fake_torch.register(CUDNN_FORWARD, (out, sums, None, None, 512, 512, seed, offset, None))
        backward = fake_torch.register(CUDNN_BACKWARD, (out, out, out))
        self.build("aten::_scaled_dot_product_cudnn_attention_backward", self.cudnn_arguments())
        given = backward.calls[0][0]
        self.assertEqual(given[4].stride(), (524288, 32768, 64, 1))
        self.assertIs(given[4].copied_from, out)
        self.assertIs(given[5], sums, "another shape: this PyTorch's own")
        self.assertIs(given[6], seed, "another device: likewise")

    def test_flash_names_its_random_state_otherwise(self):
        heads = tensor(2, 4, 128, 64)
        out, sums = self.result(2, 4, 128, 64), self.result(2, 4, 128, dtype="float32")
        state, unused = self.result(2, dtype="int64"), self.result(dtype="int64")
        forward = fake_torch.register(FLASH_FORWARD, (out, sums, None, None, 128, 128, state, unused, None))
        backward = fake_torch.register(FLASH_BACKWARD, (out, out, out))
        self.build("aten::_scaled_dot_product_flash_attention_backward",
                   [heads, heads, heads, heads, heads, tensor(2, 4, 128, dtype="float32"),
                    *values(None, None, 128, 128, 0.0, False), tensor(2, dtype="int64"), tensor(dtype="int64"),
                    *values(None)])
        self.assertEqual(forward.calls[0][0][3:], (0.0, False, False))
        self.assertIs(backward.calls[0][0][12], state)
        self.assertIs(backward.calls[0][0][13], unused)

    def test_an_absent_tensor_is_a_last_resort(self):
        exact = fake_torch.register("aten::op.exact(Tensor self, Tensor? weight) -> Tensor", self.result(4))
        fake_torch.register("aten::op.a(Tensor self, Tensor weight) -> Tensor", self.result(4))
        call = self.build("aten::op", [tensor(4), *values(None)])
        self.assertIs(call.overload, exact)


class Lists(WithFakeTorch):
    def test_indices_lie_inside_the_dimension_that_they_index(self):
        index = fake_torch.register(INDEX, self.result(502, 1))
        self.build("aten::index", [tensor(2048, 4, 1), tensors(tensor(502, dtype="int64"), tensor(502, dtype="int64"))])
        self.assertEqual([role.get("below") for n, role in self.roles if n == 502], [2048, 4])
        self.assertFalse(any(role.get("distinct") for _, role in self.roles))
        self.assertEqual(len(index.calls[0][0][1]), 2)

    def test_an_optimizer_gets_its_lists(self):
        plain = fake_torch.register(FUSED_ADAMW)
        fake_torch.register(FUSED_ADAMW_TENSOR_LR)
        like = [tensor(32, 8, dtype="float32"), tensor(8, dtype="float32")]
        steps = tensors(tensor(dtype="float32"), tensor(dtype="float32"))
        call = self.build("aten::_fused_adamw_", [
            tensors(*like), tensors(*like), tensors(*like), tensors(*like), tensors(), steps,
            *values(1e-4, 0.9, 0.999, 0.01, 1e-8, False, False, None, None)])
        self.assertIs(call.overload, plain)
        positional, keywords = plain.calls[0]
        self.assertEqual([len(one) for one in positional], [2, 2, 2, 2, 0, 2])
        self.assertEqual(keywords["lr"], 1e-4)
        self.assertIsNone(keywords["found_inf"])
        positive = [bool(role.get("positive")) for _, role in self.roles]
        self.assertEqual(positive, [False] * 6 + [True] * 4, "variances and steps")
        fresh = [storage.nbytes for storage in replay_timing.fresh_arguments(call)]
        self.assertEqual(fresh, [32, 1024], "gradients, the first parameter's last")


class FreshInputs(WithFakeTorch):
    def setUp(self):
        super().setUp()
        for text in (COPY, SUM, ADD, POW):
            fake_torch.register(text, self.result(4))

    def test_weights_and_their_gradients_are_not(self):
        args = [tensor(1024, 1024), tensor(1024, 1024, dtype="float32"), *values(False)]
        self.assertEqual(self.fresh("aten::copy_", args), [4 << 20])
        args[1]["parameter"] = True
        self.assertEqual(self.fresh("aten::copy_", args), [])

    def test_what_a_gradient_reads_late_is_not(self):
        large = tensor(8, 512, 1024, dtype="float32")
        self.assertEqual(self.fresh("aten::sum", [large, *values([0, 1], True, None)]), [])
        self.assertEqual(self.fresh("aten::pow", [large, *values(1.0)]), [])
        self.assertEqual(self.fresh("aten::pow", [large, *values(2)]), [16 << 20])

    def test_two_of_middle_size_are_and_of_two_large_ones_the_first(self):
        middle, large = tensor(4, 1024, 1024), tensor(8, 1024, 1024)
        self.assertEqual(self.fresh("aten::add", [middle, middle, *values(1)]), [8 << 20, 8 << 20])
        self.assertEqual(self.fresh("aten::add", [large, middle, *values(1)]), [16 << 20])


class WholeProgram(WithFakeTorch):
    def run_main(self, cases, *arguments):
        self.addCleanup(setattr, replay, "CASES", replay.CASES)
        self.addCleanup(setattr, sys, "argv", sys.argv)
        replay.CASES, sys.argv = cases, ["replay.py", *arguments]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = replay.main()
        return code, output.getvalue()

    def test_times_are_of_the_kernels_and_overlaps_count_once(self):
        fake_torch.register(ADD, self.result(4))
        one = case("aten::add", [tensor(64, 64), tensor(64, 64), *values(1)])
        code, output = self.run_main([one], "--json", "--repetitions", "3")
        row = json.loads(output)["cases"][0]
        self.assertEqual((code, row["timer"], row["replayed_us"], row["ratio"]), (0, "profiler", 12.0, 2.0))
        self.assertTrue(row["same_kernels"])
        before_a_call = self.torch.log[self.torch.log.index("evict"):][:4]
        self.assertEqual(before_a_call, ["evict", "write 8192", "write 8192", "aten::add"])
        for mode, wanted in (("--cold", ["evict", "aten::add"]), ("--hot", ["aten::add", "aten::add"])):
            self.torch.log.clear()
            self.run_main([one], mode)
            self.assertEqual(self.torch.log[1:3], wanted, mode)

    def test_a_case_that_cannot_be_built_fails_alone(self):
        fake_torch.register(ADD, self.result(4))
        good = case("aten::add", [tensor(4), tensor(4), *values(1)])
        code, output = self.run_main([case("aten::none", []), good], "--device", "cpu")
        self.assertEqual(code, 1)
        self.assertIn("has no operator aten::none", output)
        self.assertIn("ran on CPU", output)


if __name__ == "__main__":
    unittest.main()
