// A program that was compiled: what an executable is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../text/module.h"
#include "settings.h"

namespace pjref {

// The part of a serialized CompileOptionsProto that a plug-in of one device a program reads.
struct CompileOptions {
  int64_t device = -1;    // of the device assignment; -1: none was given
  bool portable = false;  // for any device, which each run names
  std::string bytes;      // as they were given

  // Throws Refusal: kInvalidArgument for bytes that are no options, empty ones among them, and for
  // a number of replicas or partitions outside of [1, 1024]; kUnimplemented for a number above 1
  // within these limits.
  static CompileOptions Parse(std::string_view bytes);
};

// Immutable.
struct Program {
  std::unique_ptr<Module> module;
  const Function* main = nullptr;
  std::string code, fingerprint;
  CompileOptions options;
  std::vector<Type> parameters, results;
  // What the executable says of its results, and what its buffers are; the results' own types but
  // for a fault.
  std::vector<Type> shown;
  // By result: the argument whose memory it takes, or -1. An argument that no result takes may
  // still be given away.
  std::vector<int64_t> aliases;
  // By argument: whether it is given away.
  std::vector<bool> donated;
  // `shown` as PJRT has it.
  std::vector<int> element_types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks;

  // `format` must be "mlir"; `code` is text or bytecode. Throws a refusal. It names line and op if
  // an op is wrong.
  static std::shared_ptr<const Program> Compile(std::string_view code, std::string_view format,
                                                const CompileOptions& options,
                                                const Settings& settings);
  // Bytes from which Deserialize makes the same program again, but for options.bytes, which are
  // then empty.
  std::string Serialize() const;
  // Throws Refusal(kInvalidArgument) for bytes that another version of the plug-in wrote, or that
  // are damaged; else the refusals of Compile.
  static std::shared_ptr<const Program> Deserialize(std::string_view bytes,
                                                    const Settings& settings);
};

// 64 bits of FNV-1a in hexadecimal.
std::string Fingerprint(std::string_view bytes);

}  // namespace pjref
