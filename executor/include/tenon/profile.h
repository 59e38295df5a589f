// When the nodes of functions ran, for Perfetto.
#pragma once

#include <string>

#include "tenon/context.h"
#include "tenon/internal/own.h"

namespace tenon::inline v0 {

// While it lives, calls of functions on all threads record when each of their nodes ran. Of one
// call the first 2^20 steps are recorded: a node of a loop is a step in each pass, copies and waits
// are steps too. A call that would bring the record since the last Write above 2^20 steps is left
// out. Ops that are run one by one are not recorded. Calls are slower meanwhile. Make one at a time
// in the process: all share one record, and the end of any of them ends the record. What Write has
// not written by then is dropped.
class Profile {
 public:
  Profile() { TFE_ContextEnableRunMetadata(internal::Context()); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() { TFE_ContextDisableRunMetadata(internal::Context()); }

  // Writes what was recorded since the last Write as trace events, JSON that Perfetto and
  // chrome://tracing open: a slice for each node, with its op and with `place`, the line of the
  // program that made it. Drops the record, also after an error of the file system. To be called
  // when no function runs. UNIMPLEMENTED on a library other than Tenon; else the error of the file
  // system.
  void Write(const std::string& path, Where where = Where::current()) {
    internal::NeedTenon(TENON_WriteTrace, "Profile::Write", where);
    TF_Status* const status = internal::ThreadStatus();
    TF_Buffer* const buffer = TF_NewBuffer();
    TFE_ContextExportRunMetadata(internal::Context(), buffer, status);
    const std::string metadata = internal::TakeBytes(buffer);
    internal::Check(status, where);
    TENON_WriteTrace(metadata.data(), metadata.size(), path.c_str(), status);
    internal::Check(status, where);
  }
};

}  // namespace tenon::inline v0
