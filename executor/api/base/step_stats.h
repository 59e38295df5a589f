// The times of runs as TensorFlow's StepStats.
#pragma once

#include "executor/run/run_recorder.h"
#include "proto/step_stats.pb.h"

namespace tenon::api {

// The nodes of all runs of the recorder, by device. The label of a node is "y = Op(inputs)", and
// " at train.cc:42" behind it if the program said where it made the node. Must not be called while
// a recorded run goes on.
pb::StepStats StepStatsOf(const RunRecorder& recorder);

}  // namespace tenon::api
