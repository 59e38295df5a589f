// The answer of TF_FileStat (env.h), which follows symbolic links.
#ifndef TENSORFLOW_C_TF_FILE_STATISTICS_H_
#define TENSORFLOW_C_TF_FILE_STATISTICS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct TF_FileStatistics {
  int64_t length;      // bytes; of a directory, the number that the file system gives
  int64_t mtime_nsec;  // last change of the contents, nanoseconds since the Unix epoch
  bool is_directory;
} TF_FileStatistics;

#endif  // TENSORFLOW_C_TF_FILE_STATISTICS_H_
