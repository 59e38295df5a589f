// What a client's options, or the environment before there is a client, say of the plug-in's
// behaviour. README.md lists them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/pjrt/abi.h"
#include "version.h"

namespace pjref {

namespace abi = tenon::pjrt::abi;

// Which events a fault is about.
enum EventKinds : unsigned { kNoEvents = 0, kTransfers = 1, kExecutions = 2, kAllEvents = 3 };

struct Settings {
  // Of each client.
  int64_t device_count = 1;
  std::string platform{kPlatform};
  int64_t memory_limit = 0;  // bytes of a device; 0: none
  int64_t delay_us = 0;      // before each task of a device of the kinds `late_events`
  unsigned late_events = kAllEvents;
  int64_t compile_ms = 0;
  unsigned failing_events = kNoEvents;
  unsigned unready_events = kNoEvents;  // never ready
  // The number of the execution, from 1 on, that fails. From then on the client is dead. 0: none.
  int64_t executions = 0;
  std::string wrong_results;  // "count", "type", "shape"
  std::string wrong_op;       // its results get a wrong first element
  bool column_major = false;  // results lie so

  // Of the table: read once per process, from the environment alone.
  int64_t minor_version = abi::kMinorVersion;
  int64_t major_version = abi::kMajorVersion;
  int64_t struct_size = -1;          // of the table; -1: the right one
  int64_t version_struct_size = -1;  // as struct_size
  std::vector<std::string> null_functions;
  std::string extensions;  // "loop", "unknown"
  bool null_api = false;
  bool trace = false;  // each call's name goes to stderr

  // What a function does from call `from` on (1: the first). kError: fails with `code`. kThrow:
  // throws an exception, at every call whatever `from` says. kHang: sleeps for `milliseconds`, then
  // does its work.
  struct Fault {
    enum Kind { kError, kThrow, kHang } kind;
    int64_t code = 13;
    int64_t milliseconds = 0;
    int64_t from = 1;
  };
  std::map<std::string, Fault, std::less<>> faults;

  // One option, in its spelling on a command line. Throws Refusal(kInvalidArgument) for a name or
  // value that is none.
  void Set(std::string_view name, std::string_view value);
  void Set(const abi::NamedValue& option);
  // "name=value,name=value", with ';' between the parts of a list. Throws as Set; the options
  // before the wrong one are set.
  void SetAll(std::string_view text);
  // The options of the variable kOptionsVariable. Reading ends at the first that is wrong, which
  // `problem` tells; else `problem` is empty.
  static const Settings& OfEnvironment();
  std::string problem;
};

}  // namespace pjref
