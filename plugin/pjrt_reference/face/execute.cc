// A run: arguments are checked and results made on the caller's thread, the program is interpreted
// on the device's.
#include <algorithm>
#include <cstring>
#include <utility>

#include "../ops/check.h"
#include "../ops/frame.h"
#include "../ops/strided.h"
#include "functions.h"
#include "objects.h"

namespace pjref::functions {

using namespace tenon::pjrt::abi;  // The structs' names.

namespace {

// One run, from the call to the end of the task.
struct Run {
  std::shared_ptr<const Program> program;
  Settings settings;
  std::vector<ValuePtr> arguments;
  std::vector<bool> given;  // the argument's memory may be taken
  std::vector<ValuePtr> results;
  EventPtr complete = std::make_shared<EventState>();
};

DeviceObject* DeviceOf(const ExecuteArgs& args) {
  LoadedObject* loaded = Mine(args.executable);
  if (loaded->deleted) throw Refusal(Code::kInvalidArgument, "the executable has been deleted");
  if (args.num_devices != 1)
    throw Refusal(Code::kInvalidArgument,
                  "the program runs on one device, not on " + std::to_string(args.num_devices));
  if (args.execute_device) {
    if (!loaded->devices.empty() && loaded->devices[0] != args.execute_device) {
      throw Refusal(Code::kInvalidArgument,
                    "the executable was compiled for another device than execute_device");
    }
    return Mine(args.execute_device);
  }
  if (loaded->devices.empty())
    throw Refusal(Code::kInvalidArgument,
                  "the executable is portable: execute_device must be given");
  return Mine(loaded->devices[0]);
}

bool StaysWhole(const abi::ExecuteOptions* options, size_t index) {
  if (!options || !options->non_donatable_inputs) return false;
  const int64_t* end = options->non_donatable_inputs + options->num_non_donatable_inputs;
  return std::find(options->non_donatable_inputs, end, static_cast<int64_t>(index)) != end;
}

// Takes the arguments' values. Those that are given away are deleted only once all are known to be
// right.
void TakeArguments(const ExecuteArgs& args, const DeviceObject* device, Run* run) {
  const Program& program = *run->program;
  const size_t count = program.parameters.size();
  const auto refuse = [](size_t index, const std::string& what) {
    throw Refusal(Code::kInvalidArgument, "argument " + std::to_string(index) + " " + what);
  };
  if (args.num_arguments != count) {
    throw Refusal(Code::kInvalidArgument, "Execution supplied " +
                                              std::to_string(args.num_arguments) +
                                              " buffers but compiled program expected " +
                                              std::to_string(count) + " buffers");
  }
  if (count > 0) {
    Need(args.arguments, "argument_lists");
    Need(args.arguments[0], "argument_lists[0]");
  }
  std::vector<BufferObject*> giving;
  for (size_t i = 0; i < count; ++i) {
    BufferObject* buffer = Mine(args.arguments[0][i]);
    if (!buffer) refuse(i, "is null");
    if (buffer->device != device) refuse(i, "is on another device than the program");
    if (buffer->type != program.parameters[i]) {
      refuse(i, "is '" + ToString(buffer->type) + "', but the program takes '" +
                    ToString(program.parameters[i]) + "'");
    }
    const std::lock_guard<std::mutex> lock(buffer->mutex);
    if (!buffer->value) refuse(i, "has been deleted or donated");
    const bool gives = program.donated[i] && !StaysWhole(args.options, i);
    if (std::find(giving.begin(), giving.end(), buffer) != giving.end())
      refuse(i, "is a buffer that is donated twice");
    if (gives) {
      for (size_t k = 0; k < i; ++k) {
        if (Mine(args.arguments[0][k]) == buffer)
          refuse(i, "is donated, but is another argument too");
      }
      giving.push_back(buffer);
    }
    run->arguments.push_back(buffer->value);
    run->given.push_back(gives && buffer->references == 0 && buffer->value->donatable);
  }
  for (BufferObject* buffer : giving) {
    const std::lock_guard<std::mutex> lock(buffer->mutex);
    buffer->value.reset();
  }
}

// Results are arrays of their own: not the memory of arguments, of constants or of each other.
void Separate(std::vector<Array>* results) {
  for (Array& result : *results) result = std::move(result).Own();
}

// Gives the results the memory that they are to have.
void Place(Run* run, std::vector<Array> results) {
  const Program& program = *run->program;
  Separate(&results);
  for (size_t k = 0; k < results.size(); ++k) {
    const int64_t from = program.aliases[k];
    if (from < 0 || !run->given[from]) continue;
    // Others still read the argument: the result stays apart.
    ValuePtr& value = run->arguments[from];
    if (value.use_count() != 1) continue;
    const std::shared_ptr<Storage> memory = value->array.storage();
    std::memcpy(memory->data(), results[k].data(), results[k].bytes());
    results[k] = Array(results[k].type(), memory);
    run->results[k]->released = std::move(value->released);  // Host memory stays in use.
  }
  for (size_t k = 0; k < run->results.size(); ++k) {
    const Type& shown = program.shown[k];
    Array result = results.empty() ? Array(shown) : results[std::min(k, results.size() - 1)];
    if (result.type() != shown ||
        k >= results.size()) {  // A result of another kind than the program's.
      Array other(shown);
      std::memset(other.data(), 0, other.bytes());
      std::memcpy(other.data(), result.data(), std::min(other.bytes(), result.bytes()));
      result = other;
    }
    if (run->settings.column_major) {
      Dims axes;
      for (int64_t i = shown.rank(); i-- > 0;) axes.push_back(i);
      run->results[k]->column_major = Transposed(result, axes);
    }
    run->results[k]->array = std::move(result);
  }
}

void Interpret(Run* run) {
  for (size_t i = 0; i < run->arguments.size(); ++i) {
    if (const Outcome outcome = run->arguments[i]->ready()->Await()) {
      throw Refusal(outcome->code(),
                    "argument " + std::to_string(i) + " carries an error: " + outcome->what());
    }
  }
  FailIfAsked(kExecutions, run->settings);
  std::vector<Array> arguments;
  for (const ValuePtr& value : run->arguments) arguments.push_back(value->array);
  RunOptions options;
  options.wrong_op = run->settings.wrong_op;
  Place(run,
        RunFunction(*run->program->module, *run->program->main, std::move(arguments), options));
}

void Finish(const std::shared_ptr<Run>& run) {
  Outcome outcome;
  try {
    Interpret(run.get());
  } catch (const Refusal& refusal) {
    outcome = refusal;
  } catch (const std::bad_alloc&) {
    outcome = Refusal(Code::kResourceExhausted, "Out of memory while running the program");
  } catch (const std::exception& error) {
    outcome = Refusal(Code::kInternal, error.what());
  }
  // Whoever waits for the run finds everything that it held given back.
  run->arguments.clear();
  std::vector<ValuePtr> results = std::move(run->results);
  for (const ValuePtr& value : results) value->ready()->Set(outcome);
  results.clear();
  run->complete->Set(outcome);
}

void CountExecution(ClientObject* client) {
  client->CheckAlive();
  if (++client->executions == client->settings.executions && client->settings.executions > 0)
    client->CheckAlive();
}

}  // namespace

void LoadedExecutable_Execute(ExecuteArgs* args) {
  Need(args->executable, "executable");
  LoadedObject* loaded = Mine(args->executable);
  CountExecution(loaded->client);
  DeviceObject* device = DeviceOf(*args);
  auto run = std::make_shared<Run>();
  run->program = loaded->program;
  run->settings = loaded->client->settings;
  if (!run->program->shown.empty()) {
    Need(args->outputs, "output_lists");
    Need(args->outputs[0], "output_lists[0]");
  }
  for (const Type& type : run->program->shown) {
    run->results.push_back(std::make_shared<Value>(device->core, type));
    run->results.back()->origin = kExecutions;
  }
  TakeArguments(*args, device, run.get());
  for (size_t k = 0; k < run->results.size(); ++k) {
    args->outputs[0][k] = NewBuffer(device, run->results[k], run->settings.column_major);
  }
  if (args->complete_events)
    args->complete_events[0] = NewEvent(run->complete, kExecutions, run->settings);
  device->core->Queue(kExecutions, [run] { Finish(run); });
}

}  // namespace pjref::functions
