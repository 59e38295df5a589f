// Errors of the C++ library, and the place in the program that a call came from.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tensorflow/c/tf_status.h"

namespace tenon::inline v0 {

// The place of a call. Functions of this library take it as a last argument that callers leave out:
// its default is the place of the call.
using Where = std::source_location;

// "train.cc:42": the file without its folders, and the line. Empty where no place is known.
[[gnu::cold]] inline std::string ToString(const Where& where) {
  const std::string_view file = where.file_name();
  if (file.empty() || where.line() == 0) return {};
  const size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" +
         std::to_string(where.line());
}

namespace internal {

// A place as an argument that {} does not make.
class Here {
 public:
  Here(Where where) : where_(where) {}       // NOLINT
  operator Where() const { return where_; }  // NOLINT

 private:
  Where where_;
};

// No place, where the place is in these headers or in a path with "/c++/", as the standard library
// is: what was made by emplace or make_unique does not know where the program asked for it.
inline Where OfProgram(Where where) {
  constexpr std::string_view kThis = __FILE__;
  const std::string_view file = where.file_name();
  const bool is_of_library = file.find("/c++/") != std::string_view::npos ||
                             file.starts_with(kThis.substr(0, kThis.rfind('/') + 1));
  return is_of_library ? Where() : where;
}

}  // namespace internal

// What a failed call throws. The codes are those of TensorFlow's statuses. Comments of this library
// leave out their TF_: INVALID_ARGUMENT is TF_INVALID_ARGUMENT.
class Error : public std::runtime_error {
 public:
  // `op` is the type of the op that failed, `node` its name in a graph; both may be empty.
  [[gnu::cold]] Error(TF_Code code, std::string message, std::string op = {}, std::string node = {},
                      Where where = {})
      : std::runtime_error(Text(message, op, where)),
        code_(code),
        message_(std::move(message)),
        op_(std::move(op)),
        node_(std::move(node)),
        where_(where) {}

  TF_Code code() const { return code_; }
  // What went wrong, without op and place. what() is "MatMul at train.cc:42: " and this text; the
  // op and the place are left out where they are not known.
  const std::string& message() const { return message_; }
  const std::string& op() const { return op_; }
  const std::string& node() const { return node_; }
  // "train.cc:42", the place where the program called the op; empty if no call is known.
  std::string where() const { return ToString(where_); }
  const Where& source() const { return where_; }

 private:
  [[gnu::cold]] static std::string Text(const std::string& message, const std::string& op,
                                        const Where& where) {
    const std::string place = ToString(where);
    std::string text = op;
    if (!place.empty()) text += (text.empty() ? "at " : " at ") + place;
    return text.empty() ? message : text + ": " + message;
  }

  TF_Code code_;
  std::string message_, op_, node_;
  Where where_;
};

// What a program that is compiled without exceptions does with an error. The process is aborted if
// the handler returns.
using ErrorHandler = void (*)(const Error& error);

namespace internal {

inline ErrorHandler& CurrentErrorHandler() {
  static ErrorHandler handler = [](const Error& error) {
    std::fprintf(stderr, "tenon: %s\n", error.what());
  };
  return handler;
}

[[noreturn, gnu::cold]] inline void Throw(Error error) {
#ifdef __cpp_exceptions
  throw error;
#else
  CurrentErrorHandler()(error);
  std::abort();
#endif
}

[[noreturn, gnu::cold]] inline void Throw(TF_Code code, std::string message, Where where = {}) {
  Throw(Error(code, std::move(message), {}, {}, where));
}

// A T of this thread's own, which is deleted when the thread ends. The destructor of a static
// object, which runs after that, gets a new one, which is never deleted.
template <typename T>
T& OfThread() {
  static thread_local constinit T* object = nullptr;
  if (object == nullptr) [[unlikely]] {
    struct Owner {
      ~Owner() { delete std::exchange(object, nullptr); }
    };
    static thread_local Owner owner;
    object = new T;
  }
  return *object;
}

// The status that calls of this thread write to: OK at first, as some calls write to it only when
// they fail. Each use reads it before the next call.
inline TF_Status* ThreadStatus() {
  struct Owner {
    TF_Status* const status = TF_NewStatus();
    ~Owner() { TF_DeleteStatus(status); }
  };
  TF_Status* const status = OfThread<Owner>().status;
  if (TF_GetCode(status) != TF_OK) [[unlikely]]
    TF_SetStatus(status, TF_OK, "");
  return status;
}

// Throws what the status says, unless it is OK.
inline void Check(TF_Status* status, Where where = {}) {
  if (TF_GetCode(status) == TF_OK) [[likely]]
    return;
  Throw(TF_GetCode(status), TF_Message(status), where);
}

}  // namespace internal

// Sets the handler for programs that are compiled without exceptions, and returns the one before.
// `handler` must not be null. The default prints the error to stderr. Not to be called while other
// threads use the library.
inline ErrorHandler SetErrorHandler(ErrorHandler handler) {
  return std::exchange(internal::CurrentErrorHandler(), handler);
}

}  // namespace tenon::inline v0
