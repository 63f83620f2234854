// One pass over the bytes of a CSV file: counts the records, and checks the number of fields and the quotes.
// Nothing is copied and no value is returned, only counts and line numbers.
//
// Quoting is that of RFC 4180: a field is quoted when its first byte is a quote; within it a doubled quote
// stands for one quote, and separators and line ends are text. A record ends with LF or CR LF; a CR that
// stands alone is an ordinary byte.
//
// An empty line is skipped, with one exception: between the records of a file of one column it is a record
// whose only value is missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kohorte {

// Lines and records count from 1; a first_... or ..._line of 0 means that there is none.
// If quotes are broken, nothing is counted and all fields but quote_error_line are 0.
struct CsvScan {
  std::uint64_t records = 0;           // the header is a record, too
  std::uint64_t fields = 0;            // fields expected in each record
  std::uint64_t first_bad_record = 0;  // the first record with another number of fields ...
  std::uint64_t first_bad_line = 0;    // ... the line on which it starts ...
  std::uint64_t first_bad_fields = 0;  // ... and the fields it has
  std::uint64_t bad_records = 0;       // how many such records there are
  std::uint64_t quote_error_line = 0;  // where the first field with broken quotes starts
  std::uint64_t skipped_lines = 0;     // empty lines that are no records
};

namespace csv {

constexpr std::uint8_t quote = '"';
constexpr std::uint8_t line_feed = '\n';
constexpr std::uint8_t carriage_return = '\r';

class Scanner {
 public:
  Scanner(std::span<const std::uint8_t> data, std::uint8_t separator, std::uint64_t fields)
      : at_(data.data()), end_(data.data() + data.size()), separator_(separator) {
    scan_.fields = fields;
    ends_plain_text_[separator] = ends_plain_text_[quote] = ends_plain_text_[line_feed] = true;
  }

  CsvScan run() {
    std::uint64_t empty = 0;  // empty lines since the last record
    while (at_ != end_) {
      if (at_line_end()) {
        ++empty;
        next_line();
        continue;
      }
      settle(empty);
      empty = 0;
      const std::uint64_t starts = line_;
      const std::uint64_t fields = record();
      if (fields == 0) return CsvScan{.quote_error_line = line_};
      count(fields, starts);
    }
    scan_.skipped_lines += empty;
    return scan_;
  }

 private:
  bool at_line_end() const {
    return *at_ == line_feed || (*at_ == carriage_return && end_ - at_ > 1 && at_[1] == line_feed);
  }

  void next_line() {
    at_ += *at_ == line_feed ? 1 : 2;
    ++line_;
  }

  // Empty lines before a record: they count as records only between the records of a file with one column.
  void settle(std::uint64_t empty) {
    if (scan_.fields == 1 && scan_.records > 0)
      scan_.records += empty;
    else
      scan_.skipped_lines += empty;
  }

  void count(std::uint64_t fields, std::uint64_t starts) {
    ++scan_.records;
    if (scan_.fields == 0) scan_.fields = fields;
    if (fields == scan_.fields) return;
    if (scan_.bad_records++ > 0) return;
    scan_.first_bad_record = scan_.records;
    scan_.first_bad_line = starts;
    scan_.first_bad_fields = fields;
  }

  // Reads one record and returns its number of fields, or 0 if quotes are broken; line_ is then the line of the field.
  std::uint64_t record() {
    for (std::uint64_t fields = 1;; ++fields) {
      if (at_ != end_ && *at_ == quote) {
        if (!quoted()) return 0;
      } else {
        while (at_ != end_ && !ends_plain_text_[*at_]) ++at_;
        if (at_ != end_ && *at_ == quote) return 0;
      }
      if (at_ == end_) return fields;
      if (*at_ != separator_) {
        next_line();
        return fields;
      }
      ++at_;
    }
  }

  // Reads a quoted field; returns false if it never ends or text follows its closing quote.
  bool quoted() {
    std::uint64_t lines = 0;
    for (++at_; at_ != end_; ++at_) {
      if (*at_ == line_feed) ++lines;
      if (*at_ != quote) continue;
      if (++at_ == end_ || *at_ == separator_ || at_line_end()) {
        line_ += lines;
        return true;
      }
      if (*at_ != quote) return false;
    }
    return false;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint8_t separator_;
  std::uint64_t line_ = 1;
  CsvScan scan_;
  std::array<bool, 256> ends_plain_text_{};
};

}  // namespace csv

// fields = 0 expects as many fields as the first record has. The separator must not be a quote, CR or LF.
inline CsvScan csv_scan(std::span<const std::uint8_t> data, std::uint8_t separator, std::uint64_t fields) {
  return csv::Scanner(data, separator, fields).run();
}

}  // namespace kohorte
