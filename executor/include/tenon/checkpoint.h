// Values of variables in files of TensorFlow's checkpoint format.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tenon/variable.h"

namespace tenon::inline v0 {
namespace internal {

inline Tensor StringVector(const std::vector<std::string>& texts) {
  return Tensor::Of<std::string>(Shape{static_cast<int64_t>(texts.size())}, texts);
}

// The variables' names as keys. INVALID_ARGUMENT for two of one name, and for a null pointer.
inline std::vector<std::string> KeysOf(const std::vector<Variable*>& variables, Where where) {
  CheckPointers(variables, where);
  std::vector<std::string> keys;
  for (const Variable* const variable : variables) {
    for (const std::string& key : keys) {
      if (key != variable->name()) continue;
      Throw(TF_INVALID_ARGUMENT,
            "Two variables are named \"" + key +
                "\": a checkpoint keeps values by name. Give each its own, Variable v(value, "
                "{.name = \"v\"})",
            where);
    }
    keys.push_back(variable->name());
  }
  return keys;
}

// Calls f with pointers to variables that stand in braces.
template <typename F>
void WithPointers(std::initializer_list<Variable> variables, const F& f) {
  std::vector<Variable> copies = variables;
  std::vector<Variable*> pointers;
  for (Variable& variable : copies) pointers.push_back(&variable);
  f(pointers);
}

}  // namespace internal

// Writes PREFIX.index and PREFIX.data-00000-of-00001, with the value of each variable under its
// name: tf.train.load_checkpoint and RestoreV2 read it. In a trace it is written at once, too.
// INVALID_ARGUMENT for no variable, for a null pointer and for two of one name; else the error of
// the file system.
inline void SaveCheckpoint(const std::string& prefix, const std::vector<Variable*>& variables,
                           Where where = Where::current()) {
  const internal::OutsideTraces outside;
  const std::vector<std::string> keys = internal::KeysOf(variables, where);
  std::vector<Tensor> values;
  for (const Variable* const variable : variables) values.push_back(variable->Read(where));
  Op("SaveV2", where)
      .Input(Tensor(prefix))
      .Input(internal::StringVector(keys))
      .Input(internal::StringVector(std::vector<std::string>(keys.size())))
      .Input(values)
      .RunNone();
}

inline void SaveCheckpoint(const std::string& prefix, std::initializer_list<Variable> variables,
                           Where where = Where::current()) {
  internal::WithPointers(variables, [&](const std::vector<Variable*>& pointers) {
    SaveCheckpoint(prefix, pointers, where);
  });
}

// Gives each variable the value that SaveCheckpoint or TensorFlow has written under its name, at
// once, also in a trace. NOT_FOUND if the files or a name is not there. INVALID_ARGUMENT for a
// value of another type or shape (the message names the variable), for no variable, for a null
// pointer, and for two of one name. After these errors all variables are as they were.
inline void RestoreCheckpoint(const std::string& prefix, const std::vector<Variable*>& variables,
                              Where where = Where::current()) {
  const internal::OutsideTraces outside;
  const std::vector<std::string> keys = internal::KeysOf(variables, where);
  std::vector<DType> types;
  for (const Variable* const variable : variables) types.push_back(variable->dtype());
  const std::vector<Tensor> values =
      Op("RestoreV2", where)
          .Input(Tensor(prefix))
          .Input(internal::StringVector(keys))
          .Input(internal::StringVector(std::vector<std::string>(keys.size())))
          .Attr("dtypes", types)
          .Run();
  for (size_t i = 0; i < values.size(); ++i) {
    if (variables[i]->shape().Admits(values[i].shape())) continue;
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The checkpoint has a value of shape " + values[i].shape().ToString() +
                        " for the variable \"" + keys[i] + "\" of shape " +
                        variables[i]->shape().ToString(),
                    where);
  }
  for (size_t i = 0; i < values.size(); ++i) variables[i]->Assign(values[i], where);
}
inline void RestoreCheckpoint(const std::string& prefix, std::initializer_list<Variable> variables,
                              Where where = Where::current()) {
  internal::WithPointers(variables, [&](const std::vector<Variable*>& pointers) {
    RestoreCheckpoint(prefix, pointers, where);
  });
}

}  // namespace tenon::inline v0
