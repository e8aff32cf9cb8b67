// Fields and numbers of the CSV that profilers write.
#include "base/csv_text.h"

#include "base/kernel_name.h"
#include "base/protobuf_reader.h"
#include "checks.h"

namespace fathom::test {
namespace {

std::vector<std::string> fields(std::string_view line) {
  CsvRecord record;
  split_csv(line, record);
  return record.fields;
}

TEST(CsvText, Fields) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(fields(R"("a","b, c","d ""e""",)"), (Fields{"a", "b, c", "d \"e\"", ""}));
  EXPECT_EQ(fields("1,2\r"), (Fields{"1", "2"}));
  EXPECT_EQ(fields(""), (Fields{""}));
  CsvRecord record;
  split_csv(R"("a","b)", record);
  EXPECT_TRUE(record.unclosed);
  split_csv(R"("a")", record);
  EXPECT_FALSE(record.unclosed);
  EXPECT_EQ(record.fields.size(), 1u);
}

DecimalMark mark_of(std::initializer_list<std::string_view> texts) {
  DecimalVotes votes;
  for (const std::string_view text : texts) votes.add(text);
  return votes.mark();
}

TEST(CsvText, DecimalMark) {
  EXPECT_EQ(mark_of({"1,056", "12,345,678"}), DecimalMark::kPoint);
  EXPECT_EQ(mark_of({"1,056", "23,456000"}), DecimalMark::kComma);
  EXPECT_EQ(mark_of({"1.056", "1.234.567"}), DecimalMark::kComma);
  EXPECT_EQ(mark_of({"1.234,5"}), DecimalMark::kComma);
  EXPECT_EQ(mark_of({"1,234.5"}), DecimalMark::kPoint);
  EXPECT_EQ(mark_of({"0,125"}), DecimalMark::kComma);
  EXPECT_EQ(mark_of({"PolicySpread", "n/a", "(1, 1, 1)"}), DecimalMark::kPoint);
}

std::optional<double> number(std::string_view text, DecimalMark mark = DecimalMark::kPoint) {
  double value = 0;
  return parse_number(text, mark, value) ? std::optional(value) : std::nullopt;
}

TEST(CsvText, Numbers) {
  EXPECT_EQ(number("1,491,200"), 1491200);
  EXPECT_EQ(number("31,066.67"), 31066.67);
  EXPECT_EQ(number("1.491.200,5", DecimalMark::kComma), 1491200.5);
  EXPECT_EQ(number("1\xe2\x80\xaf"
                   "491\xe2\x80\xaf"
                   "200,5",
                   DecimalMark::kComma),
            1491200.5);
  EXPECT_EQ(number("1'491'200.5"), 1491200.5);
  EXPECT_EQ(number("-0.5"), -0.5);
  EXPECT_EQ(number("8.1097E+14"), 8.1097e14);
  EXPECT_EQ(number("1e-3"), 1e-3);
  // Near-twins: a comma that separates no thousands, text, nothing, more than a double holds.
  EXPECT_EQ(number("1,23"), std::nullopt);
  EXPECT_EQ(number("1,2345"), std::nullopt);
  EXPECT_EQ(number("12 ms"), std::nullopt);
  EXPECT_EQ(number(""), std::nullopt);
  EXPECT_EQ(number("-"), std::nullopt);
  EXPECT_EQ(number("1e999"), std::nullopt);
  EXPECT_EQ(number("nan"), std::nullopt);
}

TEST(ProtobufReader, BoundsEveryLength) {
  using namespace std::string_view_literals;
  ProtobufReader good("\x08\x96\x01\x12\x02hi\x1d\x00\x00\x80\x3f"sv);
  ASSERT_TRUE(good.next());
  EXPECT_TRUE(good.is_number(1));
  EXPECT_EQ(good.number(), 150u);
  ASSERT_TRUE(good.next());
  EXPECT_EQ(good.bytes(), "hi");
  ASSERT_TRUE(good.next());
  EXPECT_EQ(good.real(), 1.0);
  EXPECT_FALSE(good.next());
  EXPECT_FALSE(good.damaged());
  for (const std::string_view bad :
       {"\x12\x7fhi"sv, "\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv, "\x08"sv, "\x1d\x00\x00"sv,
        "\x0b\x0c"sv, "\x00\x01"sv, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv}) {
    ProtobufReader reader(bad);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.damaged());
    EXPECT_FALSE(reader.next());
  }
}

std::string normal(std::string_view name) { return normal_kernel_name(name).text; }

TEST(KernelName, SameOfEveryTool) {
  const std::string kineto =
      "void at::native::(anonymous namespace)::vectorized_elementwise_kernel<4, "
      "at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, "
      "at::native::FillFunctor<float>, "
      "std::array<char*, 1ul>)";
  EXPECT_EQ(normal(kineto), "vectorized_elementwise_kernel<4,FillFunctor<float>,array<char*,1>>");
  EXPECT_EQ(normal("void at::<unnamed>::vectorized_elementwise_kernel<(int)4, FillFunctor<float>, "
                   "array<char *, (unsigned long)1>>(int, T2, T3)"),
            normal(kineto));
  EXPECT_EQ(normal("_ZN2at6native13reduce_kernelILi512ELb1EfEEvPT1_"),
            "reduce_kernel<512,1,float>");
  EXPECT_EQ(normal("void reduce_kernel<512, true, float>(float *)"), "reduce_kernel<512,1,float>");
  EXPECT_EQ(normal("vecCopy(double*, double*, int) (.kd)"), "vecCopy");
  EXPECT_EQ(normal("vecCopy.kd"), "vecCopy");
  EXPECT_EQ(normal("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(normal("void k<float const*>(float const*)"),
            normal("void k<const float *>(const float *)"));
}

TEST(KernelName, OtherKernelsStayOther) {
  EXPECT_NE(normal("void k<4>(int)"), normal("void k<8>(int)"));
  EXPECT_NE(normal("void k<float>(float)"), normal("void k<float*>(float)"));
  // Lambdas of two functions, and two of one.
  const std::string_view of_copy = "void k<4, direct_copy(at::T&)::{lambda()#1}>(int)";
  EXPECT_NE(normal(of_copy), normal("void k<4, fill(at::T&)::{lambda()#1}>(int)"));
  EXPECT_NE(normal(of_copy), normal("void k<4, direct_copy(at::T&)::{lambda()#2}>(int)"));
  EXPECT_EQ(normal(of_copy),
            normal("void k<4, a::direct_copy(at::T &)::[lambda() (instance 1)]>(int)"));
  EXPECT_EQ(normal_kernel_name("void k<4>(int)").base(), "k");
  EXPECT_FALSE(normal_kernel_name("k").has_arguments());
}

// Each part is a template of the one before it, twice: 2^30 letters in 300.
TEST(KernelName, ANameThatExplodesIsLeftMangled) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1AIiE";
  for (size_t i = 0; i < 30; ++i) {
    const std::string last = std::string("S") + kDigits[i] + "_";
    name += "S_I" + last + last + "E";
  }
  EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(demangled("_Z1f1AIiE"), "f(A<int>)");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled("_ZZZZ"), "_ZZZZ");
}

TEST(KernelName, OddTextIsItself) {
  for (const std::string_view name : {"", "<", ">", "<<<>>>", "::", "(((", "_Z", "operator<"}) {
    EXPECT_NO_FATAL_FAILURE(normal(name)) << name;
  }
  EXPECT_EQ(normal("()"), "()");
}

}  // namespace
}  // namespace fathom::test
