quire_test(cli_chat_test
  SOURCES chat_conversation_test.cc chat_edit_buffer_test.cc chat_history_test.cc chat_key_decoder_test.cc
          chat_line_editor_test.cc chat_screen_test.cc chat_setting_table_test.cc chat_slash_command_test.cc
          chat_text_width_test.cc
  DEPS quire_cli)
