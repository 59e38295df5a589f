// A small host of PJRT plug-ins, for tests: it opens the library and calls the table through its
// declarations.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tenon/pjrt/abi.h"

namespace tenon::pjrt_test {

namespace abi = tenon::pjrt::abi;

// Calls a function of the table with a struct whose head is right. An error becomes text: "3: what
// is wrong", and is destroyed.
template <typename Args>
std::string Call(const abi::Api& api, abi::Error* (*function)(Args*), Args* args);
std::string TextOf(const abi::Api& api, abi::Error* error);

template <typename Args>
Args Made() {
  Args args;
  std::memset(static_cast<void*>(&args), 0, sizeof(args));
  args.head.struct_size = abi::kStructSize<Args>;
  return args;
}

template <typename Args>
std::string Call(const abi::Api& api, abi::Error* (*function)(Args*), Args* args) {
  abi::Error* error = function(args);
  return error ? TextOf(api, error) : std::string();
}

struct Tensor {
  int type = 0;  // abi::ElementType
  std::vector<int64_t> dims;
  std::string bytes;
  bool operator==(const Tensor& other) const {
    return type == other.type && dims == other.dims && bytes == other.bytes;
  }
};

template <typename T>
Tensor Of(int type, std::vector<int64_t> dims, const std::vector<T>& values) {
  return {type, std::move(dims),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}
inline Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return Of(abi::kF32, std::move(dims), values);
}
// Elements of any real type; of complex numbers both parts.
std::vector<double> Numbers(const Tensor& tensor);

// The plug-in as a library of its own, opened with these options in the environment: each object
// has a table of its own.
class Plugin {
 public:
  explicit Plugin(const std::string& options = "");
  // Null if the plug-in gave no table.
  const abi::Api* table() const { return api_; }
  const abi::Api& api() const { return *api_; }

 private:
  const abi::Api* api_ = nullptr;
};

// The library that tests share, whose environment says nothing.
const abi::Api& SharedApi();

struct Option {
  std::string name, text;
  int64_t integer = 0;
  int type = abi::NamedValue::kString;
};
inline Option Number(std::string name, int64_t value) {
  return {std::move(name), "", value, abi::NamedValue::kInt64};
}
inline Option Text(std::string name, std::string value) {
  return {std::move(name), std::move(value)};
}
inline Option Truth(std::string name) { return {std::move(name), "", 1, abi::NamedValue::kBool}; }

// A client; every function throws std::runtime_error with an error's text unless it returns one.
class Client {
 public:
  explicit Client(const abi::Api& api, const std::vector<Option>& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const abi::Api& api() const { return api_; }
  abi::Client* get() const { return client_; }
  std::vector<abi::Device*> devices() const;

  // The error's text, empty if the program compiled. `options` are bytes of CompileOptionsProto.
  std::string Compile(const std::string& text, abi::LoadedExecutable** executable,
                      const std::string& options = kOptions) const;
  abi::LoadedExecutable* Compiled(const std::string& text) const;
  abi::Buffer* Upload(const Tensor& tensor, size_t device = 0) const;
  std::string Execute(abi::LoadedExecutable* executable, const std::vector<abi::Buffer*>& arguments,
                      std::vector<abi::Buffer*>* results, abi::Event** complete = nullptr) const;
  std::string Download(abi::Buffer* buffer, Tensor* tensor) const;
  Tensor Downloaded(abi::Buffer* buffer) const;
  void Destroy(abi::Buffer* buffer) const;
  void Destroy(abi::LoadedExecutable* executable) const;
  // Waits and destroys the event.
  std::string Await(abi::Event* event) const;
  size_t NumOutputs(abi::LoadedExecutable* executable) const;

  // Compiles, runs and downloads. Throws the first error's text.
  std::vector<Tensor> Run(const std::string& text, const std::vector<Tensor>& arguments = {}) const;

  inline static const std::string kOptions{"\x1a\x04\x20\x01\x28\x01", 6};

 private:
  const abi::Api& api_;
  abi::Client* client_ = nullptr;
};

// "func.func public @main() -> (TYPES) { BODY return ... }" around lines that end with "return".
std::string Main(const std::string& types, const std::string& body,
                 const std::string& arguments = "");

}  // namespace tenon::pjrt_test
