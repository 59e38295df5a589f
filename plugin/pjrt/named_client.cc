#include "plugin/pjrt/named_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::pjrt {
namespace {

// All entries that live. Never destroyed: a plug-in may ask while the process ends.
struct ClientNames {
  absl::Mutex mutex;
  std::vector<std::weak_ptr<NamedClient>> all ABSL_GUARDED_BY(mutex);
};

ClientNames& AllClientNames() {
  static auto* const names = new ClientNames;
  return *names;
}

}  // namespace

std::shared_ptr<NamedClient> NamedClient::Make(std::string type, std::shared_ptr<const Api> api,
                                               std::vector<ClientOption> options) {
  std::shared_ptr<NamedClient> entry(
      new NamedClient(std::move(type), std::move(api), std::move(options)));
  ClientNames& names = AllClientNames();
  absl::MutexLock lock(&names.mutex);
  std::erase_if(names.all, [](const auto& weak) { return weak.expired(); });
  names.all.push_back(entry);
  return entry;
}

absl::StatusOr<std::shared_ptr<NamedClient>> NamedClient::Find(std::string_view type) {
  const CallbackInfo* const call = CurrentCallback();
  std::vector<std::shared_ptr<NamedClient>> entries;
  {
    ClientNames& names = AllClientNames();
    absl::MutexLock lock(&names.mutex);
    for (const auto& weak : names.all) entries.push_back(weak.lock());
  }
  // Without the lock: the last owner of an entry calls the plug-in, which may call this function.
  std::shared_ptr<NamedClient> found;
  for (const std::shared_ptr<NamedClient>& entry : entries) {
    if (entry == nullptr || entry->type_ != type) continue;
    found = entry;
    if (call != nullptr && entry->api_->plugin() == call->plugin) break;
  }
  if (found != nullptr) return found;
  return absl::NotFoundError(
      absl::StrCat("no plug-in has brought a PJRT interface for device type ", type));
}

absl::Status NamedClient::CheckUnused() const {
  if (client_ == nullptr || client_.use_count() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the PJRT client of device type ", type_,
                                                    " has buffers or programs that are in use"));
}

absl::Status NamedClient::Create(const std::vector<ClientOption>& options) {
  absl::MutexLock making(&making_);
  std::shared_ptr<Client> old;
  {
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(CheckUnused());
    old = std::move(client_);
  }
  old.reset();  // without mutex_: it calls the plug-in
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Client> made,
                         Client::Create(api_, options, Client::Defaults::kPlugin));
  absl::MutexLock lock(&mutex_);
  client_ = std::move(made);
  return absl::OkStatus();
}

absl::Status NamedClient::Reset() {
  std::shared_ptr<Client> old;
  absl::MutexLock lock(&mutex_);
  if (client_ == nullptr)
    return absl::NotFoundError(absl::StrCat("PjRt client not found for device type ", type_));
  old = std::move(client_);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Client>> NamedClient::Get() const {
  absl::MutexLock lock(&mutex_);
  if (client_ != nullptr) return client_;
  return absl::NotFoundError(absl::StrCat("PjRt client not found for device type ", type_));
}

absl::StatusOr<std::shared_ptr<Client>> NamedClient::GetOrCreate() {
  if (auto there = Get(); there.ok()) return there;
  absl::MutexLock making(&making_);
  if (auto there = Get(); there.ok()) return there;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Client> made,
                         Client::Create(api_, options_, Client::Defaults::kPlugin));
  absl::MutexLock lock(&mutex_);
  client_ = made;
  return made;
}

}  // namespace tenon::pjrt
