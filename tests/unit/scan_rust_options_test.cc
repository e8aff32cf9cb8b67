// Options that Rust programs declare with clap.
#include "checks.h"
#include "scan/cpp/rust_options.h"

namespace fathom::cpp {
namespace {

using OptionNames = std::vector<std::string>;

TEST(RustOptions, FieldsOfADerivedParser) {
  const auto options = find_clap_options(R"(use clap::Parser;

#[derive(Parser, Debug)]
#[command(author, version)]
struct Args {
    /// The prompt to begin with.
    #[arg(long)]
    prompt: Option<String>,

    #[arg(short = 'n', long, default_value_t = 100)]
    pub sample_len: usize,

    #[arg(long, default_value = "main", help = "Which revision")]
    revision: Vec<(String, u8)>,

    #[arg(long = "no-kv-cache")]
    #[serde(skip)]
    cache: bool,
}
)");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].names, OptionNames{"--prompt"});
  EXPECT_EQ(options[0].help, "The prompt to begin with.");
  EXPECT_EQ(options[0].type, "String");
  EXPECT_EQ(options[0].line, 8u);
  EXPECT_EQ(options[1].names, (OptionNames{"--sample-len", "-n"}));
  EXPECT_EQ(options[1].default_value, "100");
  EXPECT_EQ(options[1].help, "");
  EXPECT_EQ(options[2].help, "Which revision");
  EXPECT_EQ(options[2].default_value, "main");
  EXPECT_EQ(options[2].type, "Vec<(String, u8)>");
  EXPECT_EQ(options[3].names, OptionNames{"--no-kv-cache"});
}

TEST(RustOptions, ArgumentsThatAreBuilt) {
  const auto options = find_clap_options(
      "use clap::Arg;\nlet a = Arg::new(\"depth\")\n  .short('d')\n  .long(\"max-depth\")\n"
      "  .help(\"How deep\");\nlet file = Arg::new(\"file\").required(true);\n");
  ASSERT_EQ(options.size(), 1u);
  EXPECT_EQ(options[0].names, (OptionNames{"--max-depth", "-d"}));
  EXPECT_EQ(options[0].help, "How deep");
  EXPECT_EQ(options[0].line, 2u);
}

// Attributes of others, what stands in strings and comments, and files without the library.
TEST(RustOptions, NearTwins) {
  EXPECT_TRUE(find_clap_options("struct A { #[arg(long)] x: u8 }").empty());
  EXPECT_TRUE(find_clap_options("use clap;\n#[serde(long)]\nstruct A { x: u8 }").empty());
  EXPECT_TRUE(
      find_clap_options("// clap: #[arg(long)] x: u8\nlet s = \"#[arg(long)] x: u8\";").empty());
  EXPECT_TRUE(find_clap_options("use clap;\nstruct A { #[arg(required = true)] x: u8 }").empty());
}

// Whatever is cut off.
TEST(RustOptions, DamagedTextIsReadAsFarAsItGoes) {
  const std::string text =
      "use clap; #[derive(Parser)] struct A<'a> { #[arg(long, default_value = \"x\")] y: &'a str, "
      "z: char } Arg::new(\"n\").long(\"n\").short('n')";
  for (size_t length = 0; length < text.size(); ++length)
    find_clap_options(std::string_view(text).substr(0, length));
  EXPECT_EQ(find_clap_options(text).size(), 2u);
}

}  // namespace
}  // namespace fathom::cpp
