// The times of runs as TensorFlow's StepStats.
#pragma once

#include "executor/run/run_recorder.h"
#include "proto/step_stats.pb.h"

namespace tenon::api {

// The steps of all runs of the recorder, by device: copies and waits too, and steps of a loop once
// for each pass. The label of a step that computes node y is "y = Op(inputs)", and " at
// train.cc:42" behind it if the program said where it made the node. The label of any other step
// says what it does. Must not be called while a recorded run goes on.
pb::StepStats StepStatsOf(const RunRecorder& recorder);

}  // namespace tenon::api
