// Files and directories for plug-ins: env.h.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/env.h"

struct TF_WritableFileHandle {
  using Pool = tenon::Handles<TF_WritableFileHandle>;
  FILE* file;
  std::string name;
};

// A list that a plug-in reads to its end or not, and then deletes by TF_StringStreamDone. Strings
// are valid until then.
struct TF_StringStream {
  using Pool = tenon::Handles<TF_StringStream>;
  std::vector<std::string> strings;
  size_t next = 0;
};

namespace tenon {

using api::AllGiven;

namespace {

// Sets OK, or if not `ok` the status of errno, with `path` in the message.
void SetResult(bool ok, const char* path, TF_Status* status) {
  if (ok) return ClearStatus(status);
  TF_SetStatusFromIOError(status, errno, path);
}

// The handle is kept on failure: its owner still has to close it.
void SetFileResult(bool ok, TF_WritableFileHandle* handle, TF_Status* status) {
  SetResult(ok, handle->name.c_str(), status);
}

// In the order in which TensorFlow tries them.
std::vector<std::string> TempDirectories() {
  std::vector<std::string> found;
  for (const char* dir :
       {static_cast<const char*>(getenv("TEST_TMPDIR")), static_cast<const char*>(getenv("TMPDIR")),
        static_cast<const char*>(getenv("TMP")), "/tmp"}) {
    std::error_code error;
    if (dir != nullptr && std::filesystem::is_directory(dir, error)) found.push_back(dir);
  }
  return found;
}

// Deletes files as it finds folders, then the folders, the deepest first. Does not follow links.
// Counts files and folders that could not be deleted, and goes on. A list, not recursion: a tree
// may be deeper than the stack.
void DeleteTree(const std::filesystem::path& root, int64_t* files_left, int64_t* dirs_left) {
  std::vector<std::filesystem::path> directories;
  std::error_code error;
  directories.push_back(root);
  for (size_t i = 0; i < directories.size(); ++i) {
    const std::filesystem::path directory = directories[i];
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code ignored;
      if (it->symlink_status(ignored).type() == std::filesystem::file_type::directory) {
        directories.push_back(it->path());
      } else if (unlink(it->path().c_str()) != 0) {
        ++*files_left;
      }
    }
  }
  for (auto it = directories.rbegin(); it != directories.rend(); ++it) {
    if (rmdir(it->c_str()) != 0) ++*dirs_left;
  }
}

}  // namespace
}  // namespace tenon

extern "C" {

void TF_CreateDir(const char* dirname, TF_Status* status) try {
  if (!tenon::AllGiven({{"dirname", dirname}}, status)) return;
  tenon::SetResult(mkdir(dirname, 0755) == 0, dirname, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteDir(const char* dirname, TF_Status* status) try {
  if (!tenon::AllGiven({{"dirname", dirname}}, status)) return;
  tenon::SetResult(rmdir(dirname) == 0, dirname, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteFile(const char* filename, TF_Status* status) try {
  if (!tenon::AllGiven({{"filename", filename}}, status)) return;
  tenon::SetResult(unlink(filename) == 0, filename, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                          int64_t* undeleted_dir_count, TF_Status* status) try {
  if (!tenon::AllGiven({{"dirname", dirname},
                        {"undeleted_file_count", undeleted_file_count},
                        {"undeleted_dir_count", undeleted_dir_count}},
                       status))
    return;
  *undeleted_file_count = *undeleted_dir_count = 0;
  // A folder that is not there counts as one that was not deleted, as in TensorFlow.
  struct stat st;
  if (lstat(dirname, &st) != 0) {
    *undeleted_dir_count = 1;
    return tenon::SetResult(false, dirname, status);
  }
  // Nor is a file an error there: it is deleted. So is a link, rather than what it leads to.
  if (!S_ISDIR(st.st_mode)) {
    const bool gone = unlink(dirname) == 0;
    *undeleted_file_count = gone ? 0 : 1;
    return tenon::SetResult(gone, dirname, status);
  }
  tenon::DeleteTree(dirname, undeleted_file_count, undeleted_dir_count);
  const int64_t left = *undeleted_file_count + *undeleted_dir_count;
  tenon::StatusToC(left == 0 ? absl::OkStatus()
                             : absl::UnknownError(absl::StrCat(dirname, "; ", left,
                                                               " entries could not be deleted")),
                   status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_FileStat(const char* filename, TF_FileStatistics* stats, TF_Status* status) try {
  if (!tenon::AllGiven({{"filename", filename}, {"stats", stats}}, status)) return;
  struct stat st;
  if (stat(filename, &st) != 0) return tenon::SetResult(false, filename, status);
  stats->length = st.st_size;
  stats->mtime_nsec = int64_t{st.st_mtim.tv_sec} * 1000000000 + st.st_mtim.tv_nsec;
  stats->is_directory = S_ISDIR(st.st_mode);
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle,
                        TF_Status* status) try {
  if (!tenon::AllGiven({{"filename", filename}, {"handle", handle}}, status)) return;
  // "e": a child process must not inherit the file.
  FILE* file = std::fopen(filename, "we");
  if (file != nullptr) *handle = TF_WritableFileHandle::Pool::New(file, filename);
  tenon::SetResult(file != nullptr, filename, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) try {
  if (!tenon::AllGiven({{"handle", handle}}, status)) return;
  tenon::SetFileResult(std::fclose(handle->file) == 0, handle, status);
  TF_WritableFileHandle::Pool::Delete(handle);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) try {
  if (!tenon::AllGiven({{"handle", handle}}, status)) return;
  tenon::SetFileResult(std::fflush(handle->file) == 0 && fsync(fileno(handle->file)) == 0, handle,
                       status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) try {
  if (!tenon::AllGiven({{"handle", handle}}, status)) return;
  tenon::SetFileResult(std::fflush(handle->file) == 0, handle, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length,
                           TF_Status* status) try {
  if (!tenon::AllGiven({{"handle", handle}}, status)) return;
  if (!tenon::api::IsBytes("data", data, length, status)) return;
  tenon::SetFileResult(std::fwrite(data, 1, length, handle->file) == length, handle, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

bool TF_StringStreamNext(TF_StringStream* list, const char** result) {
  const bool more = tenon::IsThere(list) && list->next < list->strings.size();
  if (result == nullptr) return false;
  *result = more ? list->strings[list->next++].c_str() : nullptr;
  return more;
}

void TF_StringStreamDone(TF_StringStream* list) { tenon::DeleteHandle(list); }

TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status) try {
  if (!tenon::AllGiven({{"filename", filename}}, status)) return nullptr;
  TF_StringStream* const list = TF_StringStream::Pool::New();
  DIR* dir = opendir(filename);
  tenon::SetResult(dir != nullptr, filename, status);
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") list->strings.push_back(name);
  }
  if (dir != nullptr) closedir(dir);
  return list;  // empty after an error, as in TensorFlow
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_StringStream* TF_GetLocalTempDirectories(void) try {
  return TF_StringStream::Pool::New(tenon::TempDirectories());
} catch (...) {
  return tenon::WithoutMemory();
}

char* TF_GetTempFileName(const char* extension) try {
  static std::atomic<uint64_t> counter{0};
  const std::string suffix =
      extension == nullptr || *extension == '\0' ? "" : absl::StrCat(".", extension);
  for (const std::string& dir : tenon::TempDirectories()) {
    // The file is made, so that no one else gets the name; its creator writes over it.
    std::string name = absl::StrCat(dir, "/tmp_file_tenon_", getpid(), "_", counter.fetch_add(1),
                                    "_XXXXXX", suffix);
    const int fd = mkstemps(name.data(), static_cast<int>(suffix.size()));
    if (fd < 0) continue;
    close(fd);
    return strdup(name.c_str());
  }
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

}  // extern "C"
