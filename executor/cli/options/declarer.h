// How a struct of values becomes flags of a command line.
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

// The headings of help.
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

// Declares flags on the parser of one command line. Parsing writes into the targets, which must
// live until then. Help lists flags in the order in which they are declared. `name` is "--flag",
// "-f,--flag" or, for a flag whose value may be left out, "--flag{value}". `value` is what help
// calls the value, `what` says what the flag does.
class Declarer {
 public:
  // Says why a value is wrong; empty if it is right.
  using Check = std::function<std::string(const std::string&)>;

  // `command`: its name, for messages.
  Declarer(CLI::App& app, std::string_view command) : app_(app), command_(command) {}

  std::string_view command() const { return command_; }
  // Of the flags that follow, until the next one.
  void Group(FlagGroup group);

  void Flag(const char* name, bool& target, const char* what);
  void Text(const char* name, std::string& target, const char* value, const char* what,
            Check wrong = RefuseEmpty);
  // From `low` to `high`. T is int, int64_t, uint64_t, or an optional one.
  template <typename T>
  void Integer(const char* name, T& target, const char* value, const char* what, int64_t low,
               int64_t high = INT64_MAX) {
    AddInteger(name, value, what, low, high,
               [&target](int64_t v) { target = static_cast<Of<T>>(v); });
  }
  // Any integer of 64 bits from 0 on.
  void Seed(const char* name, uint64_t& target, const char* value, const char* what);
  // A finite number from 0 on or above 0. T is double or an optional one.
  enum class Bound : uint8_t { kFromZero, kAboveZero };
  template <typename T>
  void Real(const char* name, T& target, const char* value, const char* what, Bound bound) {
    AddReal(name, value, what, bound, [&target](double v) { target = v; });
  }
  // One of a few words.
  void Choice(const char* name, const std::vector<std::string>& words, const char* value,
              const char* what, std::function<void(const std::string&)> set);
  // A flag whose value, one of `choices`, may be left out.
  void FlagWithValue(const char* name, std::string& target, const std::vector<std::string>& choices,
                     const char* what);
  // May be given more than once, with one value each time, which goes behind those of `target`.
  void Repeat(const char* name, std::vector<std::string>& target, const char* value,
              const char* what, Check wrong = nullptr);
  // The same with a list in one value: "A,B".
  void List(const char* name, std::vector<std::string>& target, const char* value,
            const char* what);

  // Checks that groups of flags share.
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
  CLI::Option* Add(const char* name, const char* value, const char* what, Setter set, Check wrong);
  void AddRepeated(const char* name, const char* value, const char* what, Setter add, Check wrong);
  void AddInteger(const char* name, const char* value, const char* what, int64_t low, int64_t high,
                  std::function<void(int64_t)> set);
  void AddReal(const char* name, const char* value, const char* what, Bound bound,
               std::function<void(double)> set);

  CLI::App& app_;
  std::string_view command_;
  const char* group_ = "";
};

}  // namespace tenon::cli
