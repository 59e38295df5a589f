// A compiled program.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/buffer.h"
#include "plugin/pjrt/event.h"

namespace tenon::pjrt {

class Client;

// Owns a program of a plug-in. Its client must outlive it: the client's cache owns it, and so does
// each Executable, which shares the client. Immutable.
class LoadedProgram {
 public:
  LoadedProgram(std::shared_ptr<const Api> api, abi::LoadedExecutable* executable)
      : api_(std::move(api)), executable_(executable) {}
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  abi::LoadedExecutable* get() const { return executable_; }

 private:
  const std::shared_ptr<const Api> api_;
  abi::LoadedExecutable* const executable_;
};

// Shares its client, which therefore outlives it. Thread-safe: several threads may execute at once.
class Executable {
 public:
  Executable(std::shared_ptr<const Client> client, std::shared_ptr<const LoadedProgram> program);

  // Whether the plug-in made a program with these results: INTERNAL, with what differs, if not.
  // Other errors are those of the plug-in's calls and of ToElementType.
  absl::Status CheckResults(absl::Span<const BufferSpec> results, std::string_view node) const;

  // Starts one run. `arguments` are as the program's parameters: number, types and shapes are the
  // caller's to get right, as plug-ins take wrong ones without an error or crash. None may be null.
  // Fills `results`, whose size is that of the program's results; they may not be ready yet. After
  // an error some or all are empty buffers.
  // `not_donated`: indices of arguments that stay whole although the program may take their memory.
  // `done`, unless null, becomes the end of the run; it stays as it is if the plug-in gives none.
  absl::Status Execute(absl::Span<abi::Buffer* const> arguments,
                       absl::Span<const int64_t> not_donated, absl::Span<Buffer> results,
                       Event* done, std::string_view node) const;

 private:
  absl::Status CheckShapes(abi::Executable* executable, absl::Span<const BufferSpec> results,
                           std::string_view node) const;

  // The program goes first.
  const std::shared_ptr<const Client> client_;
  const std::shared_ptr<const Api> api_;
  const std::shared_ptr<const LoadedProgram> program_;
};

}  // namespace tenon::pjrt
