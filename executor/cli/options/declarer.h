// Declares the fields of a struct as flags of a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::cli {

// The headings of help. Help shows a heading where the first of its flags was declared.
enum class FlagGroup : uint8_t {
  kData,
  kState,
  kDevices,
  kOptimizer,
  kRuns,
  kOps,
  kLimits,
  kOutput,
};

// A flag as it was given, to be written into another command line.
struct GivenFlag {
  std::string name;   // "--flag"
  std::string value;  // empty: the flag stood alone
};

// Declares flags on the parser of one command line. Parsing writes into the targets, so targets and
// parser must live until the parser has parsed. The Declarer need not. A flag that is not given
// leaves its target as it is.
//
// `name` is "--flag" or "-f,--flag". `value` is the name of the value in help, `what` says what the
// flag does. The parser copies these texts. Help lists flags in the order of their declaration,
// heading by heading.
//
// A value that a check refuses is an error of the parser. So is a flag with one value that is given
// twice; of flags without a value and with an optional value the last one counts.
class Declarer {
 public:
  // Returns why a value is wrong; an empty text if it is right.
  using Check = std::function<std::string(const std::string&)>;

  // `command`: the name of the command, for messages. The text must outlive the flags, as some keep
  // a view of it.
  Declarer(CLI::App& app, std::string_view command) : app_(app), command_(command) {}

  std::string_view command() const { return command_; }
  // Sets the heading of the flags that follow, until the next call. To be called before the first
  // flag is declared: a flag without a heading is not in help.
  void Group(FlagGroup group);

  // Flags that are declared from here on append what is given to `given`, until the next call;
  // null, as before the first call: they do not. Parsing appends, so `given` must live as long as
  // targets.
  void Keep(std::vector<GivenFlag>* given) { given_ = given; }

  // A flag without a value. It sets `target` to true.
  void Flag(const char* name, bool& target, const char* what);
  // A flag without a value. It sets `target` to false.
  void FlagOff(const char* name, bool& target, const char* what);
  // A flag with a text. `wrong` must not be null. By default only an empty text is refused.
  void Text(const char* name, std::string& target, const char* value, const char* what,
            Check wrong = RefuseEmpty);
  // An integer from `low` to `high`, both included. T is int, int64_t, uint64_t or an optional of
  // one of these. T must hold all these values: an int needs a `high`.
  template <typename T>
  void Integer(const char* name, T& target, const char* value, const char* what, int64_t low,
               int64_t high = INT64_MAX) {
    AddInteger(name, value, what, low, high,
               [&target](int64_t v) { target = static_cast<Of<T>>(v); });
  }
  // An integer from 0 to 2^64 - 1.
  void Seed(const char* name, uint64_t& target, const char* value, const char* what);
  // A number up to 1e9. kFromZero takes 0, kAboveZero does not; neither takes a number below 0. T
  // is double or an optional double.
  enum class Bound : uint8_t { kFromZero, kAboveZero };
  template <typename T>
  void Real(const char* name, T& target, const char* value, const char* what, Bound bound) {
    AddReal(name, value, what, bound, [&target](double v) { target = v; });
  }
  // A flag whose value is one of `words`. Parsing calls `set` with the word.
  void Choice(const char* name, const std::vector<std::string>& words, const char* value,
              const char* what, std::function<void(const std::string&)> set);
  // A flag with an optional value, which is one of `choices`. `name` is "--flag{value}": "--flag"
  // alone sets `target` to that value, "--flag=other" to the other one.
  void FlagWithValue(const char* name, std::string& target, const std::vector<std::string>& choices,
                     const char* what);
  // A flag that may be given more than once, with one value each time. The values are appended to
  // `target` in the order of the command line. If `wrong` is null, every value is right.
  void Repeat(const char* name, std::vector<std::string>& target, const char* value,
              const char* what, Check wrong = nullptr);
  // The same, for values that parsing gives to `add`.
  void RepeatInto(const char* name, const char* value, const char* what,
                  std::function<void(const std::string&)> add, Check wrong);
  // As Repeat, but each value is a list: "A, B" appends "A" and "B". Blank items are skipped. A
  // list without any other item is refused.
  void List(const char* name, std::vector<std::string>& target, const char* value,
            const char* what);

  // Two checks to pass as `wrong`: an empty text, and a list of commas and blanks alone, are wrong.
  static std::string RefuseEmpty(const std::string& text);
  static std::string RefuseEmptyList(const std::string& list);

 private:
  template <typename T>
  struct ValueOf {
    using type = T;
  };
  template <typename T>
  requires requires { typename T::value_type; }
  struct ValueOf<T> {
    using type = typename T::value_type;
  };
  template <typename T>
  using Of = typename ValueOf<T>::type;

  using Setter = std::function<void(const std::string&)>;
  // All flags pass through here: heading, and what Keep asks for.
  CLI::Option* Declare(CLI::Option* option);
  void Add(const char* name, const char* value, const char* what, Setter set, Check wrong);
  void AddInteger(const char* name, const char* value, const char* what, int64_t low, int64_t high,
                  std::function<void(int64_t)> set);
  void AddReal(const char* name, const char* value, const char* what, Bound bound,
               std::function<void(double)> set);

  CLI::App& app_;
  std::string_view command_;
  const char* group_ = "";
  std::vector<GivenFlag>* given_ = nullptr;
};

}  // namespace tenon::cli
