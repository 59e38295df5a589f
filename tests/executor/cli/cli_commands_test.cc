// The sub-commands: what holds for every row, so that a new one needs no test of its own for it.
#include <gmock/gmock.h>
#include <wordexp.h>

#include <fstream>
#include <set>
#include <sstream>

#include "executor/cli/options/command_table.h"
#include "executor/cli/options/flags.h"

namespace tenon::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Of a command line as a shell reads it, without what it redirects.
std::vector<std::string> WordsOf(std::string_view line) {
  const std::string text(line.substr(0, line.find(" < ")));
  wordexp_t parts;
  EXPECT_EQ(wordexp(text.c_str(), &parts, WRDE_NOCMD | WRDE_UNDEF), 0) << text;
  std::vector<std::string> words(parts.we_wordv, parts.we_wordv + parts.we_wordc);
  wordfree(&parts);
  return words;
}

std::string ContentOf(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class EachCommand : public ::testing::TestWithParam<const Command*> {};

TEST_P(EachCommand, HasTwoExamplesThatParse) {
  const Command& command = *GetParam();
  std::set<std::string_view> examples;
  for (const std::string_view example : command.examples) {
    SCOPED_TRACE(example);
    examples.insert(example);
    EXPECT_THAT(example, StartsWith(absl::StrCat("graph_run ", command.name)));
    std::vector<std::string> words = WordsOf(example);
    words.erase(words.begin());
    size_t length;
    ASSERT_EQ(FindCommand(words, &length), &command);
    words.erase(words.begin(), words.begin() + static_cast<ptrdiff_t>(length));
    const auto parsed = ParseArgs(command, words, *command.start());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, "");
  }
  EXPECT_EQ(examples.size(), 2u);
}

TEST_P(EachCommand, HasAHelpThatEndsWithItsExamples) {
  const Command& command = *GetParam();
  const auto help = ParseArgs(command, {"--help"}, *command.start());
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_THAT(*help, StartsWith(std::string(command.what)));
  EXPECT_THAT(*help, HasSubstr(absl::StrCat("usage: graph_run ", command.name)));
  EXPECT_THAT(*help, ::testing::EndsWith(absl::StrCat("Examples:\n  ", command.examples[0], "\n  ",
                                                      command.examples[1], "\n")));
}

TEST_P(EachCommand, SaysWhatItTakes) {
  const Command& command = *GetParam();
  EXPECT_LE(command.fewest, command.most);
  EXPECT_EQ(command.arguments.empty(), command.most == 0);
  const std::vector<std::string> none, too_many(command.most == SIZE_MAX ? 0 : command.most + 1);
  EXPECT_EQ(ParseArgs(command, none, *command.start()).ok(), command.fewest == 0);
  if (!too_many.empty()) {
    EXPECT_FALSE(ParseArgs(command, too_many, *command.start()).ok());
  }
}

TEST_P(EachCommand, IsInTheHelpOfTheProgramAndInTheManual) {
  const Command& command = *GetParam();
  EXPECT_THAT(ProgramHelp(), HasSubstr(absl::StrCat("\n  ", command.name, " ")));
  EXPECT_THAT(ProgramHelp(), HasSubstr(std::string(command.what)));
  const std::string row =
      absl::StrCat("\n| `", command.name, command.arguments.empty() ? "" : " ", command.arguments);
  EXPECT_THAT(ContentOf("docs/graph_run.md"), HasSubstr(row));
}

INSTANTIATE_TEST_SUITE_P(All, EachCommand, ::testing::ValuesIn(Commands()),
                         [](const ::testing::TestParamInfo<const Command*>& info) {
                           std::string name(info.param->name);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(Commands, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Command* command : Commands()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name;
    EXPECT_EQ(FindCommand(command->name), command);
  }
}

TEST(Flags, SayWhichValueIsMissing) {
  const Command& run = *FindCommand("run");
  for (const char* flag : {"--input", "--threads", "--atol", "--passes"}) {
    const auto parsed = ParseArgs(run, {"model.pb", flag}, *run.start());
    EXPECT_THAT(parsed.status().message(),
                HasSubstr(absl::StrCat("graph_run run: ", flag, " needs a value: ", flag, " ")));
  }
}

}  // namespace
}  // namespace tenon::cli
