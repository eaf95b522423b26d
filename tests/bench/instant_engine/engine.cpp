// A chess engine that answers at once with a random legal move, for measuring what runs engines.
//
// It speaks as much of UCI as testers need: uci, isready, ucinewgame, position, go, stop, quit.
// `go perft N` counts positions after N plies, by first move, so that its moves can be checked.
// The only argument is the seed of its choices; the same seed and the same questions give the same moves.

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

// The board is one of 10 columns and 12 rows with a border of two: a step off it is seen by its content.
constexpr char kEmpty = '.', kBorder = '#';
constexpr int kColumns = 10, kSquares = 120, kNone = 0;
constexpr int kUp = -kColumns, kDown = kColumns;  // up is towards row 8
constexpr std::array<int, 4> kStraight = {-1, 1, kUp, kDown};
constexpr std::array<int, 4> kDiagonal = {kUp - 1, kUp + 1, kDown - 1, kDown + 1};
constexpr std::array<int, 8> kAround = {-1, 1, kUp, kDown, kUp - 1, kUp + 1, kDown - 1, kDown + 1};
constexpr std::array<int, 8> kKnight = {2 * kUp - 1,   2 * kUp + 1,   kUp - 2,   kUp + 2,
                                        kDown - 2, kDown + 2, 2 * kDown - 1, 2 * kDown + 1};
constexpr const char* kStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

constexpr int Square(int file, int row) { return (9 - row) * kColumns + file + 1; }  // file 0-7, row 0-7
constexpr int kA1 = Square(0, 0), kE1 = Square(4, 0), kH1 = Square(7, 0);
constexpr int kA8 = Square(0, 7), kE8 = Square(4, 7), kH8 = Square(7, 7);

bool IsWhite(char piece) { return piece >= 'A' && piece <= 'Z'; }
bool IsPiece(char piece) { return piece != kEmpty && piece != kBorder; }
char Kind(char piece) { return static_cast<char>(std::tolower(piece)); }

struct Move {
  int from, to;
  char promotion;  // lower case, or 0
};

std::string Name(int square) {
  return {static_cast<char>('a' + square % kColumns - 1), static_cast<char>('0' + 10 - square / kColumns)};
}

int Named(const std::string& name) { return Square(name[0] - 'a', name[1] - '1'); }

std::string Name(const Move& move) {
  std::string name = Name(move.from) + Name(move.to);
  if (move.promotion) name += move.promotion;
  return name;
}

class Position {
 public:
  explicit Position(const std::string& fen) {
    board_.fill(kBorder);
    std::istringstream words(fen);
    std::string rows, side, castling, passant;
    words >> rows >> side >> castling >> passant;
    int file = 0, row = 7;
    for (int i = 0; i < 64; ++i) board_[Square(i % 8, i / 8)] = kEmpty;
    for (char c : rows) {
      if (c == '/') {
        file = 0;
        --row;
      } else if (std::isdigit(c)) {
        file += c - '0';
      } else {
        board_[Square(file++, row)] = c;
      }
    }
    white_ = side != "b";
    for (char c : castling) {
      if (c == 'K') castling_[kH1] = true;
      if (c == 'Q') castling_[kA1] = true;
      if (c == 'k') castling_[kH8] = true;
      if (c == 'q') castling_[kA8] = true;
    }
    if (passant.size() == 2) passant_ = Named(passant);
  }

  std::vector<Move> Legal() const {
    std::vector<Move> legal;
    for (const Move& move : Candidates()) {
      Position next = *this;
      next.Play(move);
      if (!next.Attacked(next.King(white_), !white_)) legal.push_back(move);
    }
    return legal;
  }

  // Play makes a move that is legal.
  void Play(const Move& move) {
    const char piece = board_[move.from];
    const int forward = white_ ? kUp : kDown;
    if (Kind(piece) == 'p' && move.to == passant_) board_[passant_ - forward] = kEmpty;
    if (Kind(piece) == 'k' && std::abs(move.to - move.from) == 2) {
      const bool right = move.to > move.from;
      const int corner = right ? move.from + 3 : move.from - 4;
      board_[(move.from + move.to) / 2] = board_[corner];
      board_[corner] = kEmpty;
    }
    passant_ = Kind(piece) == 'p' && std::abs(move.to - move.from) == 2 * kColumns ? move.from + forward : kNone;
    board_[move.to] = move.promotion ? (white_ ? static_cast<char>(std::toupper(move.promotion)) : move.promotion) : piece;
    board_[move.from] = kEmpty;
    // A right is gone once its rook's corner or its king's square was left or entered.
    for (int square : {move.from, move.to}) {
      castling_[square] = false;
      if (square == kE1) castling_[kA1] = castling_[kH1] = false;
      if (square == kE8) castling_[kA8] = castling_[kH8] = false;
    }
    white_ = !white_;
  }

 private:
  bool Mine(int square) const { return IsPiece(board_[square]) && IsWhite(board_[square]) == white_; }
  bool Theirs(int square) const { return IsPiece(board_[square]) && IsWhite(board_[square]) != white_; }

  int King(bool white) const {
    const char king = white ? 'K' : 'k';
    for (int square = kA8; square <= kH1; ++square)
      if (board_[square] == king) return square;
    return kNone;
  }

  bool Attacked(int square, bool by_white) const {
    const auto is = [&](int from, char kind) { return board_[from] == (by_white ? std::toupper(kind) : kind); };
    const int behind = by_white ? kDown : kUp;  // where a pawn that attacks the square comes from
    if (is(square + behind - 1, 'p') || is(square + behind + 1, 'p')) return true;
    for (int step : kKnight)
      if (is(square + step, 'n')) return true;
    for (int step : kAround)
      if (is(square + step, 'k')) return true;
    const auto along = [&](const std::array<int, 4>& steps, char kind) {
      for (int step : steps) {
        int from = square + step;
        while (board_[from] == kEmpty) from += step;
        if (is(from, kind) || is(from, 'q')) return true;
      }
      return false;
    };
    return along(kStraight, 'r') || along(kDiagonal, 'b');
  }

  // Candidates are all moves that are legal but for what they may do to the own king.
  std::vector<Move> Candidates() const {
    std::vector<Move> moves;
    for (int from = kA8; from <= kH1; ++from) {
      if (!Mine(from)) continue;
      switch (Kind(board_[from])) {
        case 'p': Pawn(from, moves); break;
        case 'n': Walk(from, kKnight, false, moves); break;
        case 'b': Walk(from, kDiagonal, true, moves); break;
        case 'r': Walk(from, kStraight, true, moves); break;
        case 'q': Walk(from, kAround, true, moves); break;
        default:
          Walk(from, kAround, false, moves);
          Castle(from, moves);
      }
    }
    return moves;
  }

  template <std::size_t N>
  void Walk(int from, const std::array<int, N>& steps, bool far, std::vector<Move>& moves) const {
    for (int step : steps) {
      int to = from + step;
      for (; board_[to] == kEmpty; to += step) {
        moves.push_back({from, to, 0});
        if (!far) break;
      }
      if (Theirs(to)) moves.push_back({from, to, 0});
    }
  }

  void Pawn(int from, std::vector<Move>& moves) const {
    const int forward = white_ ? kUp : kDown;
    const int row = 9 - from / kColumns;
    if (board_[from + forward] == kEmpty) {
      PawnTo(from, from + forward, moves);
      if (row == (white_ ? 1 : 6) && board_[from + 2 * forward] == kEmpty) moves.push_back({from, from + 2 * forward, 0});
    }
    for (int to : {from + forward - 1, from + forward + 1})
      if (Theirs(to) || (passant_ != kNone && to == passant_)) PawnTo(from, to, moves);
  }

  static void PawnTo(int from, int to, std::vector<Move>& moves) {
    const int row = 9 - to / kColumns;
    if (row == 0 || row == 7) {
      for (char promotion : {'q', 'r', 'b', 'n'}) moves.push_back({from, to, promotion});
    } else {
      moves.push_back({from, to, 0});
    }
  }

  void Castle(int from, std::vector<Move>& moves) const {
    if (from != (white_ ? kE1 : kE8) || Attacked(from, !white_)) return;
    if (castling_[from + 3] && Free(from + 1, from + 2) && !Attacked(from + 1, !white_)) moves.push_back({from, from + 2, 0});
    if (castling_[from - 4] && Free(from - 3, from - 1) && !Attacked(from - 1, !white_)) moves.push_back({from, from - 2, 0});
  }

  bool Free(int first, int last) const {
    for (int square = first; square <= last; ++square)
      if (board_[square] != kEmpty) return false;
    return true;
  }

  std::array<char, kSquares> board_;
  std::array<bool, kSquares> castling_{};  // by the corner of the rook
  int passant_ = kNone;                    // the square that a pawn has just passed
  bool white_ = true;
};

Move Parsed(const std::string& name) {
  return {Named(name.substr(0, 2)), Named(name.substr(2, 2)), name.size() > 4 ? name[4] : char{0}};
}

// PositionOf reads what follows `position`: "startpos" or "fen …", then perhaps "moves …".
Position PositionOf(std::istringstream& words) {
  std::string word, fen;
  words >> word;
  if (word == "fen") {
    while (words >> word && word != "moves") fen += word + " ";
  } else {
    fen = kStart;
    words >> word;  // "moves", if anything
  }
  Position position(fen);
  while (words >> word) position.Play(Parsed(word));
  return position;
}

std::uint64_t Perft(const Position& position, int depth) {
  if (depth == 0) return 1;
  std::uint64_t nodes = 0;
  for (const Move& move : position.Legal()) {
    Position next = position;
    next.Play(move);
    nodes += Perft(next, depth - 1);
  }
  return nodes;
}

void Divide(const Position& position, int depth) {
  std::uint64_t all = 0;
  for (const Move& move : position.Legal()) {
    Position next = position;
    next.Play(move);
    const std::uint64_t nodes = Perft(next, depth - 1);
    std::cout << Name(move) << ": " << nodes << '\n';
    all += nodes;
  }
  std::cout << "Nodes searched: " << all << std::endl;
}

void Go(const Position& position, std::istringstream& words, std::mt19937_64& random) {
  std::string word;
  int depth = 0;
  if (words >> word && word == "perft" && words >> depth && depth > 0) {
    Divide(position, depth);
    return;
  }
  const std::vector<Move> legal = position.Legal();
  std::cout << "bestmove " << (legal.empty() ? "0000" : Name(legal[random() % legal.size()])) << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  std::ios::sync_with_stdio(false);
  std::mt19937_64 random(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1);
  Position position(kStart);
  std::string line, command;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    command.clear();
    words >> command;
    if (command == "uci") std::cout << "id name instant\nid author Bot Arena\nuciok" << std::endl;
    if (command == "isready") std::cout << "readyok" << std::endl;
    if (command == "position") position = PositionOf(words);
    if (command == "go") Go(position, words, random);
    if (command == "quit") break;
  }
}
