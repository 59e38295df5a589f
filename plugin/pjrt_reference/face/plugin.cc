// Errors, events and the plug-in itself.
#include <utility>

#include "functions.h"
#include "objects.h"

namespace pjref::functions {

using namespace tenon::pjrt::abi;  // The structs' names.

void Error_Destroy(ErrorDestroyArgs* args) { delete Mine(args->error); }

void Error_Message(ErrorMessageArgs* args) {
  const ErrorObject* error = Mine(args->error);
  args->message = error ? error->message.data() : "";
  args->message_size = error ? error->message.size() : 0;
}

void Error_GetCode(ErrorGetCodeArgs* args) {
  Need(args->error, "error");
  args->code = static_cast<int>(Mine(args->error)->code);
}

void Plugin_Initialize(PluginInitializeArgs*) {
  const std::string& problem = Settings::OfEnvironment().problem;
  if (!problem.empty()) throw Refusal(Code::kInvalidArgument, problem);
}

void Plugin_Attributes(PluginAttributesArgs* args) {
  static const int64_t kCurrent[] = {1, 8, 0};
  static const int64_t kMinimum[] = {0, 9, 0};
  static const NamedValue* const kAttributes = [] {
    static NamedValue values[2] = {};
    const auto set = [](NamedValue* value, const char* name, size_t size, const int64_t* list) {
      value->head.struct_size = kStructSize<NamedValue>;
      value->name = name;
      value->name_size = size;
      value->type = NamedValue::kInt64List;
      value->integers = list;
      value->value_size = 3;
    };
    set(&values[0], "stablehlo_current_version", 25, kCurrent);
    set(&values[1], "stablehlo_minimum_version", 25, kMinimum);
    return values;
  }();
  args->attributes = kAttributes;
  args->num_attributes = 2;
}

namespace {
void Raise(const Outcome& outcome) {
  if (outcome) throw Refusal(*outcome);
}
}  // namespace

void Event_Destroy(EventArgs* args) { delete Mine(args->event); }

void Event_IsReady(EventIsReadyArgs* args) {
  Need(args->event, "event");
  args->is_ready = Mine(args->event)->state->IsReady();
}

void Event_Error(EventArgs* args) {
  Need(args->event, "event");
  const EventPtr state = Mine(args->event)->state;
  if (!state->IsReady()) throw Refusal(Code::kFailedPrecondition, "the event is not ready");
  Raise(state->Await());
}

void Event_Await(EventArgs* args) {
  Need(args->event, "event");
  // The event may be destroyed while this thread waits.
  const EventPtr state = Mine(args->event)->state;
  Raise(state->Await());
}

void Event_OnReady(EventOnReadyArgs* args) {
  Need(args->event, "event");
  Need(args->callback, "callback");
  const EventPtr state = Mine(args->event)->state;
  state->OnReady([callback = args->callback, user_arg = args->user_arg](const Outcome& outcome) {
    callback(outcome ? NewError(*outcome) : nullptr, user_arg);
  });
}

}  // namespace pjref::functions
