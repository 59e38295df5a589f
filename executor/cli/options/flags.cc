// Parses arguments with CLI11, and puts its help and its errors into the words of this program.

#include "executor/cli/options/flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "executor/cli/faults/exit_code.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"

namespace tenon::cli {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Command& command) : command_(command) {}
  // The library writes a flag with an optional value as "--verify-each{structure}".
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    const size_t brace = name.find('{');
    if (brace == std::string::npos) return name;
    return absl::StrCat(name.substr(0, brace),
                        "[=", name.substr(brace + 1, name.size() - brace - 2), "]");
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return absl::StrCat("usage: graph_run ", command_.name, command_.arguments.empty() ? "" : " ",
                        command_.arguments, " [FLAGS]\n");
  }

 private:
  const Command& command_;
};

absl::Status TooManyArguments(std::string_view first, const Command& command) {
  return UsageError(absl::StrCat("'", first, "' is one argument too many; usage: graph_run ",
                                 command.name, " ", command.arguments));
}

// The error for arguments that the parser left: an unknown flag, or a word too many.
absl::Status UnknownArguments(CLI::App& app, const std::vector<std::string>& extras,
                              const Command& command) {
  const std::string& first = extras.front();
  const std::string flag = first.substr(0, first.find('='));
  if (flag.size() < 2 || flag[0] != '-') {
    return TooManyArguments(first, command);
  }
  ClosestName closest(flag);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
  }
  for (const std::string& name : names) closest.Offer(name);
  return UsageError(absl::StrCat("unknown flag '", flag, "' of graph_run ", command.name,
                                 closest.Hint(), "; graph_run ", command.name,
                                 " --help lists them"));
}

// Splits "--x=" into the flag and an empty value; the library would take the next argument for the
// value.
std::vector<std::string> SplitEmptyValues(const std::vector<std::string>& args) {
  std::vector<std::string> split;
  for (const std::string& arg : args) {
    const bool empty = arg.starts_with("--") && arg.find('=') + 1 == arg.size();
    split.push_back(empty ? arg.substr(0, arg.size() - 1) : arg);
    if (empty) split.emplace_back();
  }
  return split;
}

// The flag that an argument gives: "-o" of "-o", "-oFILE" and "-o=FILE".
std::string FlagOf(const std::string& arg) {
  return arg.starts_with("--") ? arg.substr(0, arg.find('=')) : arg.substr(0, 2);
}

std::string NeedsValue(std::string_view flag, const CLI::Option& option) {
  return absl::StrCat(flag, " needs a value: ", flag, " ", option.get_option_text());
}

// Says in this program's words why the library refuses the arguments. The library names a flag of
// two names by the long one, also where the other one was given.
std::string Explanation(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& args) {
  std::string text = error.what();
  const size_t end = text.find(':');
  const CLI::Option* const option = app.get_option_no_throw(text.substr(0, end));
  if (option == nullptr) return text;
  const auto given = std::ranges::find_if(
      args, [&](const std::string& a) { return option->check_name(FlagOf(a)); });
  const std::string flag = given == args.end() ? text.substr(0, end) : FlagOf(*given);
  return absl::EndsWith(text, " missing") ? NeedsValue(flag, *option) : flag + text.substr(end);
}

// Refuses a flag in the place of a value, which the library would take for the value. A flag with
// flags as its value (--ab) is declared to take any.
absl::Status CheckValues(const CLI::App& app, const std::vector<std::string>& args,
                         std::string_view who) {
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    const CLI::Option* const option =
        args[i].starts_with('-') ? app.get_option_no_throw(args[i]) : nullptr;
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    ++i;  // its value
    const bool is_flag = args[i].size() > 1 && args[i][0] == '-' &&
                         app.get_option_no_throw(FlagOf(args[i])) != nullptr;
    if (is_flag && !option->check_lname("ab"))
      return UsageError(absl::StrCat(who, ": ", NeedsValue(args[i - 1], *option), ", and ", args[i],
                                     " is a flag"));
  }
  return absl::OkStatus();
}

// Parses, and returns the arguments that no flag takes. `who` is the text in front of errors.
absl::StatusOr<std::vector<std::string>> Parse(CLI::App& app, const std::vector<std::string>& args,
                                               std::string_view who) {
  TENON_RETURN_IF_ERROR(CheckValues(app, args, who));
  std::vector<std::string> reversed = SplitEmptyValues(args);
  std::reverse(reversed.begin(), reversed.end());  // the library takes arguments from the end
  // Unknown flags are left over, so that the error can name the closest flag.
  app.allow_extras();
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    return UsageError(absl::StrCat(who, ": ", Explanation(app, e, args)));
  }
  return app.remaining();
}

// Splits the text at blanks outside of quotes. "''" is an empty word. CLI11's own splitter knows
// quotes only where a word begins, and takes an open quote for a closed one.
absl::StatusOr<std::vector<std::string>> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == 0 && absl::ascii_isspace(c)) {
      in_word = false;
      continue;
    } else {
      if (!in_word) words.emplace_back();
      words.back() += c;
      in_word = true;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
  }
  if (quote != 0) return UsageError(absl::StrCat("--ab \"", text, "\": a quote is not closed"));
  return words;
}

absl::Status CheckPaths(const std::vector<std::string>& paths, const Command& command) {
  if (command.arguments.empty()) {
    if (paths.empty()) return absl::OkStatus();
    return UsageError(absl::StrCat("graph_run ", command.name, " takes no '", paths[0], "'"));
  }
  if (paths.size() < command.fewest) return TooFewArguments(command);
  if (paths.size() > command.most) return TooManyArguments(paths[command.most], command);
  return absl::OkStatus();
}

}  // namespace

absl::Status TooFewArguments(const Command& command) {
  return UsageError(absl::StrCat("graph_run ", command.name, " needs ", command.arguments,
                                 "; graph_run ", command.name, " --help shows examples"));
}

absl::StatusOr<std::string> ParseArgs(const Command& command, std::vector<std::string> args,
                                      Work& work) {
  const std::string who = absl::StrCat("graph_run ", command.name);
  CLI::App app(std::string(command.what), who);
  app.set_help_flag();
  bool help = std::ranges::any_of(
      args, [](const std::string& arg) { return arg == "--help" || arg == "-h"; });
  std::string flagfile;  // only for help: ExpandFlagFiles has replaced the flag
  CommonFlags& flags = work.flags();
  // Without a group an option is not in the help: the usage line has the arguments.
  app.add_option("PATH", flags.paths)->group("");
  Declarer declarer(app, command.name);
  work.Declare(declarer);
  declarer.Group(FlagGroup::kOutput);
  declarer.Text("--flagfile", flagfile, "FILE", "read flags from a file, one per line");
  bool listed = false;  // only for help: a value that does not fit would keep it false
  declarer.Flag("-h,--help", listed, "this text");
  app.formatter(std::make_shared<HelpFormatter>(command));
  app.footer(absl::StrCat("\nExamples:\n  ", command.examples[0], "\n  ", command.examples[1]));
  app.get_formatter()->column_width(34);
  const auto extras = Parse(app, args, who);
  // Help comes before errors, so that it works on a command line that is not complete.
  if (help) return absl::StrReplaceAll(app.help(), {{"\n\n\n", "\n\n"}});
  TENON_RETURN_IF_ERROR(extras.status());
  if (!extras->empty()) return UnknownArguments(app, *extras, command);
  TENON_RETURN_IF_ERROR(CheckPaths(flags.paths, command));
  return std::string();
}

absl::Status SetFlags(const std::string& text, const std::function<void(Declarer&)>& declare) {
  CLI::App app;
  app.set_help_flag();
  Declarer declarer(app, "");
  declare(declarer);
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> words, WordsOf(text));
  const std::string who = absl::StrCat("--ab \"", text, "\"");
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> extras, Parse(app, words, who));
  if (extras.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return UsageError(
      absl::StrCat(who, ": '", extras.front(),
                   "' is not what two configurations can differ in: ", absl::StrJoin(names, ", ")));
}

}  // namespace tenon::cli
