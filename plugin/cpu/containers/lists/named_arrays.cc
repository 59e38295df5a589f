#include "plugin/cpu/containers/lists/named_arrays.h"

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

constexpr std::string_view kContainer = "_tensor_arrays";

// A handle's strings, and a share of the handle.
struct Strings {
  explicit Strings(ObjectRef<ArrayHandle> handle) : handle(std::move(handle)) {
    const std::string_view texts[] = {kContainer, this->handle->name()};
    for (int i = 0; i < 2; ++i) {
      TF_TString_Init(&text[i]);
      TF_TString_Copy(&text[i], texts[i].data(), texts[i].size());
    }
  }
  ~Strings() {
    for (TF_TString& t : text) TF_TString_Dealloc(&t);
  }

  const ObjectRef<ArrayHandle> handle;
  alignas(kTensorAlignment) TF_TString text[2];
};

}  // namespace

ObjectRef<NamedArrays> NamedArrays::Of(const Prepare& p) {
  return p.session().resources().LookupOrCreate<NamedArrays>(
      kContainer, "", [] { return ObjectRef<NamedArrays>::Make("tensor arrays"); });
}

ObjectRef<TensorArray> NamedArrays::Find(std::string_view name) {
  absl::MutexLock lock(&mutex_);
  const auto found = arrays_.find(name);
  return found == arrays_.end() ? ObjectRef<TensorArray>() : found->second;
}

std::string NamedArrays::Add(const ObjectRef<TensorArray>& array) {
  absl::MutexLock lock(&mutex_);
  std::string name = absl::StrCat(array->name(), "_", count_++);
  arrays_.emplace(name, array);
  return name;
}

void NamedArrays::Remove(const std::string& name) {
  ObjectRef<TensorArray> last;  // let go of behind the lock
  absl::MutexLock lock(&mutex_);
  const auto found = arrays_.find(name);
  last = std::move(found->second);
  arrays_.erase(found);
}

Tensor ArrayHandle::AsStrings() {
  // The buffer of the strings holds a share of the handle: the name is free again when the last
  // copy of the tensor is gone.
  auto* strings = new Strings(ObjectRef<ArrayHandle>::Share(this));
  const auto release = [](void*, size_t, void* arg) { delete static_cast<Strings*>(arg); };
  return Tensor(
      DataType::kString, Shape({2}),
      BufferRef::Adopt(Buffer::Wrap(strings->text, sizeof(strings->text), release, strings)));
}

}  // namespace tenon::cpu
