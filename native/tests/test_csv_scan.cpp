#include "csv_scan.hpp"

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

using kohorte::CsvScan;

CsvScan scan(std::string_view text, char separator = ',', std::uint64_t fields = 0) {
  // A copy on the heap of exactly that size: the address sanitizer then sees a read past the end.
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return kohorte::csv_scan(std::span<const std::uint8_t>(bytes.data(), bytes.size()),
                           static_cast<std::uint8_t>(separator), fields);
}

// The slow and obvious way: look at every byte, in one of four states.
CsvScan obvious(const std::string& text, char separator, std::uint64_t expected) {
  enum class State { field_start, plain, quoted, quote_in_quoted };
  struct Record {
    std::uint64_t fields, line;
    bool empty;
  };
  std::vector<Record> records;
  State state = State::field_start;
  std::uint64_t line = 1, fields = 1, record_line = 1, field_line = 1;
  bool empty = true;
  const auto broken = [](std::uint64_t where) {
    CsvScan result;
    result.quote_error_line = where;
    return result;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool crlf = c == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (state == State::quoted) {
      if (c == '"') state = State::quote_in_quoted;
      if (c == '\n') ++line;
    } else if (c == '\n' || crlf) {
      if (crlf) ++i;
      records.push_back({fields, record_line, empty});
      ++line;
      record_line = field_line = line;
      fields = 1;
      empty = true;
      state = State::field_start;
    } else if (c == separator) {
      ++fields;
      empty = false;
      field_line = line;
      state = State::field_start;
    } else if (c == '"') {
      empty = false;
      if (state == State::plain) return broken(field_line);
      state = State::quoted;
    } else {
      empty = false;
      if (state == State::quote_in_quoted) return broken(field_line);
      state = State::plain;
    }
  }
  if (state == State::quoted) return broken(field_line);
  if (!empty) records.push_back({fields, record_line, false});

  CsvScan result;
  result.fields = expected;
  std::size_t first = records.size(), last = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].empty) continue;
    if (first == records.size()) first = i;
    last = i;
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (result.fields == 0 && !records[i].empty) result.fields = records[i].fields;
    if (records[i].empty && !(result.fields == 1 && i > first && i < last)) {
      ++result.skipped_lines;
      continue;
    }
    ++result.records;
    if (records[i].fields == result.fields) continue;
    if (result.bad_records++ > 0) continue;
    result.first_bad_record = result.records;
    result.first_bad_line = records[i].line;
    result.first_bad_fields = records[i].fields;
  }
  return result;
}

void check_same(const CsvScan& got, const CsvScan& wanted) {
  CHECK_EQ(got.quote_error_line, wanted.quote_error_line);
  CHECK_EQ(got.records, wanted.records);
  CHECK_EQ(got.fields, wanted.fields);
  CHECK_EQ(got.bad_records, wanted.bad_records);
  CHECK_EQ(got.first_bad_record, wanted.first_bad_record);
  CHECK_EQ(got.first_bad_line, wanted.first_bad_line);
  CHECK_EQ(got.first_bad_fields, wanted.first_bad_fields);
  CHECK_EQ(got.skipped_lines, wanted.skipped_lines);
}

void sound_files() {
  CHECK_EQ(scan("").records, 0U);
  CHECK_EQ(scan("a").records, 1U);
  CHECK_EQ(scan("a,b\n1,2\n3,4").records, 3U);
  CHECK_EQ(scan("a,b\r\n1,2\r\n").records, 2U);
  CHECK_EQ(scan("a,b\n1,\n").bad_records, 0U);
  CHECK_EQ(scan("a,b\n1,").bad_records, 0U);
  CHECK_EQ(scan("a;b\n1,5;2,5\n", ';').fields, 2U);
  CHECK_EQ(scan("a,b\n\"1,\n\"\"2\",3\n").records, 2U);
  CHECK_EQ(scan("a,b\n\"1,\n\"\"2\",3\n").bad_records, 0U);
  CHECK_EQ(scan("\"\"").records, 1U);
}

void ragged_files() {
  const CsvScan found = scan("a,b\n\"x\ny\",1\n\n1,2,3\n4\n");
  CHECK_EQ(found.records, 4U);
  CHECK_EQ(found.fields, 2U);
  CHECK_EQ(found.first_bad_record, 3U);
  CHECK_EQ(found.first_bad_line, 5U);
  CHECK_EQ(found.first_bad_fields, 3U);
  CHECK_EQ(found.bad_records, 2U);
  CHECK_EQ(scan("a,b\n1,2\n", ',', 3).bad_records, 2U);
}

void empty_lines() {
  CHECK_EQ(scan("\n\na\n1\n\n2\n\n\n").records, 4U);
  CHECK_EQ(scan("\n\na\n1\n\n2\n\n\n").skipped_lines, 4U);
  CHECK_EQ(scan("a,b\r\n\r\n1,2\r\n\r\n").records, 2U);
  CHECK_EQ(scan("a,b\r\n\r\n1,2\r\n\r\n").skipped_lines, 2U);
}

void broken_quotes() {
  CHECK_EQ(scan("a,b\n1,x\"y\n").quote_error_line, 2U);
  CHECK_EQ(scan("a,b\n1,\"x\"y\n").quote_error_line, 2U);
  CHECK_EQ(scan("a,b\n1,\"x\n\n3,4\n").quote_error_line, 2U);
  CHECK_EQ(scan("a,b\n1,\"x\n\n3,\"4\"\n").quote_error_line, 2U);
  CHECK_EQ(scan("a,b\n1,\"x\"\r").quote_error_line, 2U);
  CHECK_EQ(scan("a,b\n1,\"x\n\n3,4\n").records, 0U);
  CHECK_EQ(scan("\"").quote_error_line, 1U);
  CHECK_EQ(scan("\"\"\"").quote_error_line, 1U);
}

void random_files() {
  std::mt19937 random(4711);
  const std::string alphabets[] = {"a,\n", "a,\"\n", "a,;\"\r\n", "\"\n\r", "aaaaaaaa,\n\"\""};
  for (int round = 0; round < 300000; ++round) {
    const std::string& alphabet = alphabets[random() % 5];
    std::string text(random() % 24, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const std::uint64_t fields = random() % 4;
    check_same(scan(text, ',', fields), obvious(text, ',', fields));
  }
}

}  // namespace

int main() {
  sound_files();
  ragged_files();
  empty_lines();
  broken_quotes();
  random_files();
  return 0;
}
