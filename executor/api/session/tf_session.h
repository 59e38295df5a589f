// The structs behind TF_Session and TF_SessionOptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/graph/tf_graph.h"
#include "executor/api/session/run_table.h"
#include "executor/session/session.h"
#include "tensorflow/c/c_api.h"

struct TF_SessionOptions {
  std::string target;  // "" for this process
  tenon::SessionOptions options;
};

struct TF_Session {
  TF_Session(TF_Graph* g, std::unique_ptr<tenon::Session> s) : graph(g), session(std::move(s)) {}

  TF_Graph* const graph;  // kept alive by AddSession
  const std::unique_ptr<tenon::Session> session;
  tenon::api::RunTable runs;
  std::atomic<bool> closed{false};

  absl::Mutex mutex;  // one run is prepared at a time
  // TF_Graph::version of the graph that `session` has; -1: none yet.
  int64_t version ABSL_GUARDED_BY(mutex) = -1;
};
