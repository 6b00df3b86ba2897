// The regular expressions that pre-tokenizers are made of.
//
// Source: the `pre_tokenizer` parts of the models' own tokenizer.json files. Constants, thread safe.
#pragma once

#include <string>

namespace quire::tokenizer::patterns {

// English contractions, any case.
inline const std::string kContraction = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))";
// Line ends with the white space before them; white space up to the last one before a word; the rest.
inline const std::string kWhiteSpace = R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
inline const std::string kWhiteSpaceOneLine = R"(\s*[\r\n]|\s+(?!\S)|\s+)";
inline const std::string kWord = R"([^\r\n\p{L}\p{N}]?\p{L}+)";
inline const std::string kPunctuation = R"( ?[^\s\p{L}\p{N}]+[\r\n]*)";
inline const std::string kPunctuationSlash = R"( ?[^\s\p{L}\p{N}]+[\r\n/]*)";

inline const std::string kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
inline const std::string kLlama3 =
    kContraction + "|" + kWord + R"(|\p{N}{1,3}|)" + kPunctuation + "|" + kWhiteSpace;
inline const std::string kQwen2 =
    kContraction + "|" + kWord + R"(|\p{N}|)" + kPunctuation + "|" + kWhiteSpace;
inline const std::string kQwen2NoContraction = kWord + R"(|\p{N}|)" + kPunctuation + "|" + kWhiteSpace;
inline const std::string kQwen2LongNumbers =
    kContraction + "|" + kWord + R"(|\p{N}+|)" + kPunctuation + "|" + kWhiteSpace;
inline const std::string kQwen35 = kContraction + R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)" +
                                   R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" + kWhiteSpace;
inline const std::string kSeedCoder =
    kContraction + "|" + kWord + R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" + kWhiteSpace;
inline const std::string kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|)" + kWord + R"(|\p{N}|)" + kPunctuation + "|" + kWhiteSpaceOneLine;
// The published pattern repeats (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+; the possessive form matches the same text
// with bounded backtracking.
inline const std::string kExaoneMoe = kContraction +
                                      R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N}|)" +
                                      R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|)" + kWhiteSpaceOneLine;

// Words split where small letters are followed by capitals.
inline const std::string kCamel =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)";
inline const std::string kCamelCapitals =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)";
inline const std::string kCamelWords = kCamel + kContraction + "?|" + kCamelCapitals + kContraction + "?|";
inline const std::string kGpt4o = kCamelWords + R"(\p{N}{1,3}|)" + kPunctuationSlash + "|" + kWhiteSpace;
inline const std::string kGpt4oSingleDigits =
    kCamelWords + R"(\p{N}|)" + kPunctuationSlash + "|" + kWhiteSpace;
inline const std::string kTekken =
    kCamel + "|" + kCamelCapitals + R"(|\p{N}|)" + kPunctuationSlash + "|" + kWhiteSpace;
// The same letter classes without Han, written as complements: a class cannot be intersected. (sc: the script
// itself, without the characters it shares with others.)
inline const std::string kNoHanUpper = R"([^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}])";
inline const std::string kNoHanLower = R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}])";
inline const std::string kKimiK2 = R"(\p{sc:Han}+|[^\r\n\p{L}\p{N}]?)" + kNoHanUpper + "*" + kNoHanLower +
                                   "+" + kContraction + R"(?|[^\r\n\p{L}\p{N}]?)" + kNoHanUpper + "+" +
                                   kNoHanLower + "*" + kContraction + R"(?|\p{N}{1,3}|)" + kPunctuation +
                                   "|" + kWhiteSpace;

// As llama3, with white space cut in powers of two.
inline const std::string kJais2 =
    kContraction + "|" + kWord + R"(|\p{N}{1,3}|)" + kPunctuation +
    R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|)"
    R"(\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

inline const std::string kOneDigit = R"(\p{N})";
inline const std::string kThreeDigits = R"(\p{N}{1,3})";
inline const std::string kDigits = R"(\p{N}+)";
inline const std::string kThreeAsciiDigits = "[0-9][0-9][0-9]";
inline const std::string kLines = R"([^\n]+|[\n]+)";
inline const std::string kNonSpaces = R"(\S+)";
// Groups of three digits counted from the right. The first wants a word border after the run; the second only
// cuts; the third takes any number characters.
inline const std::string kDigitsFromRightAtBorder = R"(\d{1,3}(?=(?:\d{3})*\b))";
inline const std::string kDigitCutsFromRight = R"((?=(\d{3})+(?!\d)))";
inline const std::string kNumbersFromRight = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";

inline const std::string kLineEnd = R"([\r\n])";
inline const std::string kTrailingSpace = R"(\s+$)";
// Letters that have case, as listed by the model (newer cased scripts are missing there, and so here).
inline const std::string kDeepseekLlmLetters =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B})"
    R"(\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})"
    R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})"
    R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"
    R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"
    R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
    R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
inline const std::string kDeepseekLlmPunctuation =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)";
inline const std::string kDeepseekCjk = R"([\x{800}-\x{9FA5}\x{AC00}-\x{D7FF}]+)";
inline const std::string kSpacedLetters = R"(\s?\p{L}+)";
inline const std::string kSpacedPunctuation = R"(\s?\p{P}+)";
inline const std::string kHanKana = R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
inline const std::string kDeepseekV3Words =
    R"([!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)";
inline const std::string kDeepseekV3 = kDeepseekV3Words + R"( ?[\p{P}\p{S}]+[\r\n]*|)" + kWhiteSpace;
inline const std::string kSpark = kDeepseekV3Words + R"( ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
inline const std::string kAfmoeScripts =
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{309F}\x{30A0}-\x{30FF}\x{FF65}-\x{FF9F})"
    R"(\x{2F00}-\x{2FDF}\x{E00}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}\x{1000}-\x{109F}\x{AA60}-\x{AA7F})"
    R"(\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)";

inline const std::string kYoutuHangul = R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+)";
inline const std::string kYoutuPunctuation =
    R"([\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F})"
    R"(\x{FE30}-\x{FE4F}]+)";
inline const std::string kYoutuBopomofo = R"([\x{3105}-\x{312F}]+)";

inline const std::string kFalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";
inline const std::string kDefaultPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
inline const std::string kBloom = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";
inline const std::string kSentinel = R"(<sentinel:[0-9]++>)";
inline const std::string kImageToken = R"(IMGIMG[A-I]{1,4}Z)";
inline const std::string kTabsAndSpaces = R"([\t\n]|    |  )";
inline const std::string kOnePunctuation = R"([\p{P}!-/:-@\[-`{-~])";

}  // namespace quire::tokenizer::patterns
