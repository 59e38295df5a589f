// Values of flags are strings for CLI11: ranges are checked and numbers are read here.

#include "executor/cli/options/declarer.h"

#include <CLI/App.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon::cli {
namespace {

constexpr const char* kHeadings[] = {
    "Data",  "SavedModels, state and files", "Devices", "Optimizer", "Runs", "Ops", "Limits",
    "Output"};

// As seconds still within a clock's range; no tolerance is near it.
constexpr double kMaxReal = 1e9;

std::string RefuseInteger(const std::string& text, int64_t low, int64_t high) {
  int64_t number;
  if (absl::SimpleAtoi(text, &number) && number >= low && number <= high) return "";
  return absl::StrCat("'", text, "' is no integer from ", low,
                      high == INT64_MAX ? " on" : absl::StrCat(" to ", high));
}

std::string RefuseReal(const std::string& text, Declarer::Bound bound) {
  const bool from_zero = bound == Declarer::Bound::kFromZero;
  double number;
  const bool fits = absl::SimpleAtod(text, &number) && number <= kMaxReal &&
                    (from_zero ? number >= 0 : number > 0);
  if (fits) return "";
  return absl::StrCat("'", text, "' is no number ", from_zero ? "from 0" : "above 0", " to ",
                      kMaxReal);
}

std::string RefuseSeed(const std::string& text) {
  uint64_t seed;
  return absl::SimpleAtoi(text, &seed) ? "" : absl::StrCat("'", text, "' is no integer from 0 on");
}

}  // namespace

void Declarer::Group(FlagGroup group) { group_ = kHeadings[static_cast<size_t>(group)]; }

std::string Declarer::RefuseEmpty(const std::string& text) {
  return text.empty() ? "an empty value" : "";
}

std::string Declarer::RefuseEmptyList(const std::string& list) {
  const bool empty = list.find_first_not_of(", \t\n\v\f\r") == std::string::npos;
  return empty ? absl::StrCat("'", list, "' names nothing") : std::string();
}

CLI::Option* Declarer::Declare(CLI::Option* option) {
  option->group(group_);
  if (given_ == nullptr) return option;
  const std::string name = absl::StrCat("--", option->get_single_name());
  // A flag that stands alone has the value "true" for CLI11.
  const bool alone = option->get_items_expected_max() == 0;
  return option->each([given = given_, name, alone](const std::string& value) {
    given->push_back({name, alone && value == "true" ? "" : value});
  });
}

void Declarer::Add(const char* name, const char* value, const char* what, Setter set, Check wrong) {
  Declare(app_.add_option_function<std::string>(name, set, what))
      ->option_text(value)
      ->check(std::move(wrong));
}

void Declarer::RepeatInto(const char* name, const char* value, const char* what, Setter add,
                          Check wrong) {
  const auto add_all = [add = std::move(add)](const std::vector<std::string>& values) {
    for (const std::string& v : values) add(v);
  };
  CLI::Option* const option =
      Declare(app_.add_option_function<std::vector<std::string>>(name, add_all, what))
          ->option_text(value)
          ->expected(1, -1)
          // One value for each flag: the words behind it are arguments of the command.
          ->allow_extra_args(false)
          ->take_all();
  if (wrong) option->check(std::move(wrong));
}

void Declarer::AddInteger(const char* name, const char* value, const char* what, int64_t low,
                          int64_t high, std::function<void(int64_t)> set) {
  const auto parse = [set = std::move(set)](const std::string& text) {
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number)) set(number);
  };
  Add(name, value, what, parse,
      [low, high](const std::string& text) { return RefuseInteger(text, low, high); });
}

void Declarer::AddReal(const char* name, const char* value, const char* what, Bound bound,
                       std::function<void(double)> set) {
  const auto parse = [set = std::move(set)](const std::string& text) {
    double number = 0;
    if (absl::SimpleAtod(text, &number)) set(number);
  };
  Add(name, value, what, parse,
      [bound](const std::string& text) { return RefuseReal(text, bound); });
}

void Declarer::Flag(const char* name, bool& target, const char* what) {
  Declare(app_.add_flag(name, target, what));
}

void Declarer::FlagOff(const char* name, bool& target, const char* what) {
  Declare(app_.add_flag_function(
      name, [&target](int64_t times) { target = times <= 0; }, what));
}

void Declarer::Text(const char* name, std::string& target, const char* value, const char* what,
                    Check wrong) {
  Add(
      name, value, what, [&target](const std::string& v) { target = v; }, std::move(wrong));
}

void Declarer::Seed(const char* name, uint64_t& target, const char* value, const char* what) {
  const auto parse = [&target](const std::string& text) {
    uint64_t seed = 0;
    if (absl::SimpleAtoi(text, &seed)) target = seed;
  };
  Add(name, value, what, parse, RefuseSeed);
}

void Declarer::Choice(const char* name, const std::vector<std::string>& words, const char* value,
                      const char* what, Setter set) {
  Declare(app_.add_option_function<std::string>(name, set, what))
      ->option_text(value)
      ->check(CLI::IsMember(words));
}

void Declarer::FlagWithValue(const char* name, std::string& target,
                             const std::vector<std::string>& choices, const char* what) {
  Declare(app_.add_flag(name, target, what))->option_text(" ")->check(CLI::IsMember(choices));
}

void Declarer::Repeat(const char* name, std::vector<std::string>& target, const char* value,
                      const char* what, Check wrong) {
  RepeatInto(
      name, value, what, [&target](const std::string& v) { target.push_back(v); },
      std::move(wrong));
}

void Declarer::List(const char* name, std::vector<std::string>& target, const char* value,
                    const char* what) {
  const auto add = [&target](const std::string& v) {
    for (std::string_view item : absl::StrSplit(v, ',', absl::SkipWhitespace()))
      target.emplace_back(absl::StripAsciiWhitespace(item));
  };
  RepeatInto(name, value, what, add, RefuseEmptyList);
}

}  // namespace tenon::cli
