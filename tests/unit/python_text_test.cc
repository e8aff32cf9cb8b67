#include "replay/python_text.h"

#include "checks.h"
#include "replay/tensor_types.h"

namespace fathom {
namespace {

TEST(PythonText, QuotedTextCannotEnd) {
  EXPECT_EQ(python_quoted("aten::mm"), R"("aten::mm")");
  EXPECT_EQ(python_quoted(R"(a"b\c'd)"), R"("a\"b\\c'd")");
  EXPECT_EQ(python_quoted("a\nb\rc\t\x01\x7f"), R"("a\nb\x0dc\x09\x01\x7f")");
  EXPECT_EQ(python_quoted(std::string_view("\0", 1)), R"("\x00")");
  // Line and paragraph separators end a line in some tools, right-to-left marks hide code.
  EXPECT_EQ(python_quoted("\u2028\u202e"), R"("\u2028\u202e")");
  EXPECT_EQ(python_quoted("µ😀"), R"("\xb5\U0001f600")");
}

TEST(PythonText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(python_quoted("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(python_quoted("\xe2\x82"), R"("\ufffd\ufffd")") << "cut off";
  EXPECT_EQ(python_quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "half a surrogate pair";
  EXPECT_EQ(python_quoted("\xf7\xbf\xbf\xbf"), R"("\ufffd\ufffd\ufffd\ufffd")") << "past the last";
}

TEST(PythonText, ValuesAreWrittenAnew) {
  EXPECT_EQ(python_value("-1"), "-1");
  EXPECT_EQ(python_value("0."), "0.0");
  EXPECT_EQ(python_value("0.90000000000000002"), "0.9");
  EXPECT_EQ(python_value("1e-08"), "1e-08");
  EXPECT_EQ(python_value("-65504."), "-65504.0");
  EXPECT_EQ(python_value("True"), "True");
  EXPECT_EQ(python_value("inf"), "1e999");
  EXPECT_EQ(python_value("-inf"), "-1e999");
  EXPECT_EQ(python_value("nan"), "\"nan\"");
  EXPECT_EQ(python_value("[1, 1]"), "[1, 1]");
  EXPECT_EQ(python_value("[True, False]"), "[True, False]");
  EXPECT_EQ(python_value("[]"), "[]");
}

TEST(PythonText, WhatIsNoValueIsNone) {
  for (const char* text :
       {"", "__import__('os').system('id')", "1+1", "1;2", "[1, open('x')]", "[1,", "[1,]", "[[1]]",
        "1_000", "0x10", "1 2", "(1, 2)", "true", "[,]", "9**9"}) {
    EXPECT_FALSE(python_value(text)) << text;
  }
}

TEST(PythonText, OperatorNames) {
  EXPECT_TRUE(is_operator_name("aten::mm"));
  EXPECT_TRUE(is_operator_name("aten::_fused_adamw_"));
  EXPECT_TRUE(is_operator_name("aten::add.Tensor"));
  EXPECT_TRUE(is_operator_name("vllm::rms_norm"));
  for (const char* name : {"", "mm", "aten::", "::mm", "aten:mm", "aten::mm()", "aten::mm x",
                           "aten::a::b", "aten::1x", "aten::mm.", "aten::mm\n", "AddmmBackward0"}) {
    EXPECT_FALSE(is_operator_name(name)) << name;
  }
}

TEST(PythonText, FileNamesStayInTheirDirectory) {
  EXPECT_EQ(file_name_of("aten::mm"), "aten_mm");
  EXPECT_EQ(file_name_of("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(file_name_of("..").find('/'), std::string::npos);
  EXPECT_EQ(file_name_of("a b\nc"), "a_b_c");
  EXPECT_EQ(file_name_of(""), "_");
  EXPECT_LE(file_name_of(std::string(100000, 'x')).size(), 100u);
}

TEST(PythonText, MarkdownCodeCannotEnd) { EXPECT_EQ(markdown_code("a`b\nc"), "`a'b\\nc`"); }

TEST(TensorTypes, NamesOfTorch) {
  EXPECT_EQ(torch_dtype("c10::BFloat16"), "bfloat16");
  EXPECT_EQ(torch_dtype("long int"), "int64");
  EXPECT_EQ(torch_dtype("c10::Float8_e8m0fnu"), "float8_e8m0fnu") << "the last row";
  EXPECT_FALSE(torch_dtype("Scalar"));
  EXPECT_FALSE(torch_dtype("type")) << "the table's header";
  EXPECT_FALSE(torch_dtype(""));
}

TEST(TensorTypes, OfAListByItsKernel) {
  EXPECT_EQ(dtype_in_kernel_name("void multi_tensor_apply_kernel<BinaryOpScalarFunctor<float, 1>>"),
            "float32");
  EXPECT_EQ(dtype_in_kernel_name("CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4>"),
            "bfloat16");
  EXPECT_EQ(dtype_in_kernel_name("reduce<c10::Half, float>"), "float16") << "the first one";
  EXPECT_FALSE(dtype_in_kernel_name("nvjet_sm90_tst_float4_bz"));
}

}  // namespace
}  // namespace fathom
